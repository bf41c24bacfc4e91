package coordinator

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// failingCalls refuses a number of calls, and answers the others with nothing.
type failingCalls struct {
	space.Repository
	left int
}

func (f *failingCalls) Call(context.Context, space.OpID, string, tuple.Tuple) (tuple.Tuple, error) {
	if f.left > 0 {
		f.left--
		return nil, fault.ErrOverloaded
	}
	return nil, nil
}

func TestSchedulesThatCannotRunAreLoggedOnceWithACount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		c := &Coordinator{Config: Config{Log: slog.New(slog.NewTextHandler(&logged, nil))}}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { c.runSchedules(ctx, &failingCalls{left: 20}); close(ended) }()
		<-time.After(30 * scheduleInterval)
		stop()
		<-ended
		require.Equal(t, 2, strings.Count(logged.String(), "\n"), logged.String())
		require.Contains(t, logged.String(), "schedules that are due could not be run")
		require.Contains(t, logged.String(), `msg="coordinator: schedules run again" "failed checks"=20`)
	})
}
