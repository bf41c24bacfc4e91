package retry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
)

// runLater runs a Later until stop is called, which waits for it.
func runLater(t *testing.T, l *retry.Later) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	return func() { cancel(); require.NoError(t, <-ended) }
}

// refusal returns an error that can pass while refusing is set.
func refusal(refusing *atomic.Bool) error {
	if refusing.Load() {
		return fault.ErrOverloaded
	}
	return nil
}

func TestACallThatIsRefusedForMinutesIsRepeatedUntilItSucceedsAndOthersNeedNotWaitForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		l := retry.NewLater("repeating", slog.New(slog.NewTextHandler(&logged, nil)))
		defer runLater(t, l)()
		began := time.Now()
		var calls, others atomic.Int64
		require.NoError(t, l.Do(t.Context(), func(context.Context) error {
			calls.Add(1)
			if time.Since(began) < 3*time.Minute {
				return fault.ErrOverloaded
			}
			return nil
		}))
		require.Zero(t, time.Since(began), "the caller goes on")
		require.NoError(t, l.Do(t.Context(), func(context.Context) error {
			if others.Add(1) == 1 {
				return fault.ErrUnavailable
			}
			return nil
		}))
		time.Sleep(time.Minute)
		require.EqualValues(t, 2, others.Load())
		require.Greater(t, calls.Load(), int64(30))
		require.Less(t, calls.Load(), int64(240), "with pauses")
		time.Sleep(time.Hour)
		last := calls.Load()
		time.Sleep(time.Hour)
		require.Equal(t, last, calls.Load(), "it has succeeded")
		synctest.Wait()
		require.Less(t, strings.Count(logged.String(), "repeating"), 5)
	})
}

func TestACallWhoseErrorCannotPassIsNotRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := retry.NewLater("", slog.New(slog.DiscardHandler))
		defer runLater(t, l)()
		var calls atomic.Int64
		do := func(answers ...error) error {
			calls.Store(0)
			return l.Do(t.Context(), func(context.Context) error { return answers[calls.Add(1)-1] })
		}
		require.ErrorIs(t, do(fault.ErrClosed), fault.ErrClosed)
		time.Sleep(time.Minute)
		require.EqualValues(t, 1, calls.Load())
		require.NoError(t, do(fault.ErrOverloaded, fault.ErrStaleToken))
		time.Sleep(time.Minute)
		require.EqualValues(t, 2, calls.Load())
		var none *retry.Later
		require.ErrorIs(t, none.Do(t.Context(), func(context.Context) error { return fault.ErrOverloaded }), fault.ErrOverloaded)
		require.NoError(t, none.Check())
	})
}

func TestTheEndOfALaterRepeatsEachCallOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := retry.NewLater("", slog.New(slog.DiscardHandler))
		stop := runLater(t, l)
		var calls atomic.Int64
		var refusing atomic.Bool
		refusing.Store(true)
		require.NoError(t, l.Do(t.Context(), func(ctx context.Context) error {
			calls.Add(1)
			return errors.Join(ctx.Err(), refusal(&refusing))
		}))
		time.Sleep(time.Minute)
		last := calls.Load()
		refusing.Store(false)
		stop()
		require.Equal(t, last+1, calls.Load())
	})
}

func TestTooManyRefusedCallsLetNothingBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := retry.NewLater("", slog.New(slog.DiscardHandler))
		defer runLater(t, l)()
		var refusing atomic.Bool
		refusing.Store(true)
		n := 0
		for ; l.Check() == nil; n++ {
			require.Less(t, n, 10_000)
			require.NoError(t, l.Do(t.Context(), func(context.Context) error { return refusal(&refusing) }))
		}
		require.ErrorIs(t, l.Check(), fault.ErrOverloaded)
		refusing.Store(false)
		time.Sleep(time.Minute)
		require.NoError(t, l.Check())
	})
}
