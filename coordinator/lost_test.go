package coordinator

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestThousandsOfLostSessionsOfOneMachineAreOneLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		c := &Coordinator{Config: Config{Log: slog.New(slog.NewTextHandler(&logged, nil))}, lost: make(chan lostSession, maxLost)}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { c.logLost(ctx); close(ended) }()
		noteLost(c.lost, lostSession{"worker-1", "barn", []string{"t1", "t2"}})
		for n := range 5000 {
			noteLost(c.lost, lostSession{fmt.Sprint("flood-", n), "mill", nil})
			if n%100 == 0 {
				<-time.After(100 * time.Millisecond)
			}
		}
		<-time.After(5 * time.Second)
		synctest.Wait()
		require.Equal(t, 2, strings.Count(logged.String(), "\n"), logged.String())
		require.Contains(t, logged.String(), "session lost: no heartbeat came in time; what it held is offered again\" session=worker-1 host=barn held=2 tasks=\"t1 t2\"")
		require.Contains(t, logged.String(), "5000 sessions lost: no heartbeats came in time; what they held is offered again\" host=mill first=\"flood-0 flood-1 flood-2 flood-3\"")
		noteLost(c.lost, lostSession{"flood-last", "mill", nil})
		synctest.Wait()
		stop()
		<-ended
		require.Contains(t, logged.String(), "flood-last", "the last ones are logged too")
	})
}
