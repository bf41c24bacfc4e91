package retry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
)

func Example() {
	calls := 0
	loop := retry.Loop{Message: "retrying", Log: slog.New(slog.DiscardHandler), Backoff: retry.Backoff{Min: 1}}
	err := loop.Do(context.Background(), func() error {
		if calls++; calls < 3 {
			return fault.ErrOverloaded
		}
		return nil
	})
	fmt.Println(calls, err)
	// Output: 3 <nil>
}

func TestFault41PausesGrowAndAreJittered(t *testing.T) {
	t.Parallel()
	b := retry.Backoff{}.WithDefaults()
	pauses := map[time.Duration]bool{}
	for range 100 {
		pause := b.First()
		pauses[pause] = true
		require.LessOrEqual(t, pause, b.Min+1)
		for range 20 {
			pause = b.Next(pause)
			require.Positive(t, pause)
			require.LessOrEqual(t, pause, b.Max+1)
		}
	}
	require.Greater(t, len(pauses), 50, "the pauses differ")
}

func TestTenMinutesOfOverloadAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		loop := retry.Loop{Message: "retrying", Log: slog.New(slog.NewTextHandler(&logged, nil))}
		began, calls := time.Now(), 0
		require.NoError(t, loop.Do(t.Context(), func() error {
			calls++
			if time.Since(began) < 10*time.Minute {
				return fmt.Errorf("full: %w", []error{fault.ErrOverloaded, fault.ErrUnavailable}[calls%2])
			}
			return nil
		}))
		require.Greater(t, calls, 300)
		require.Less(t, calls, 1200)
		require.InDelta(t, 10, strings.Count(logged.String(), "retrying"), 1)
	})
}

func TestAnErrorThatCannotPassIsReturned(t *testing.T) {
	t.Parallel()
	for _, err := range []error{fault.ErrClosed, fault.ErrInvalid, errors.New("broken"), nil} {
		calls := 0
		require.Equal(t, err, (&retry.Loop{}).Do(t.Context(), func() error { calls++; return err }))
		require.Equal(t, 1, calls)
	}
}

func TestALoopEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		err := (&retry.Loop{Log: slog.New(slog.DiscardHandler)}).Do(ctx, func() error { return fault.ErrOverloaded })
		require.ErrorIs(t, err, fault.ErrOverloaded)
		require.Equal(t, time.Minute, time.Since(began))
	})
}
