package remote_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space/remote"
)

func TestAGateThatIsAwayIsWarnedOfEveryTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		attempts := 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := remote.Dial(ctx, remote.Config{
			Address: "away:1", Session: "w", Log: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn})),
			Dial: func(context.Context, string) (net.Conn, error) {
				attempts++
				return nil, errors.New("no route")
			},
		})
		require.ErrorContains(t, err, "no route")
		lines := strings.Count(logged.String(), "retrying")
		require.Greater(t, attempts, 2*lines)
		require.InDelta(t, 6, lines, 2)
	})
}
