package status_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// coordinator answers each heartbeat with the next of its answers, and repeats the last.
type coordinator struct {
	space.Repository
	answers []error
	states  []string
}

func (c *coordinator) Session() string { return "worker-1" }

// Call records the state that a heartbeat reports, and returns the next error of the test; the
// last one repeatedly. It does not record the clock of the machine.
func (c *coordinator) Call(_ context.Context, _ space.OpID, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
	if procedure == "status.clock" {
		return nil, nil
	}
	err := c.answers[min(len(c.states), len(c.answers)-1)]
	c.states = append(c.states, args.Str(0))
	return nil, err
}

func TestHeartbeatIsSentAtItsIntervalAndAtEachChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &coordinator{answers: []error{nil}}
		h := status.NewHeartbeat(c, time.Second, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		<-time.After(500 * time.Millisecond)
		h.SetState("busy")
		<-time.After(200 * time.Millisecond)
		h.SetState("busy") // is no change
		require.NoError(t, <-done, "nil when the context ends")
		require.Equal(t, []string{"idle", "busy", "busy", "busy"}, c.states)
	})
}

func TestAStateThatChangesOftenIsReportedFourTimesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &coordinator{answers: []error{nil}}
		h := status.NewHeartbeat(c, time.Hour, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 2100*time.Millisecond)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		for n := range 1800 {
			time.Sleep(time.Millisecond)
			h.SetState(fmt.Sprint("task ", n))
		}
		require.NoError(t, <-done)
		require.Len(t, c.states, 4+4+1, "in the third second there is one change to report")
		require.Equal(t, "task 1799", c.states[len(c.states)-1], "the last change is reported")
	})
}

func TestAHeartbeatThatWaitsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &coordinator{answers: []error{nil}}
		h := status.NewHeartbeat(c, time.Hour, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		for n := range 400 {
			time.Sleep(time.Millisecond)
			h.SetState(fmt.Sprint("task ", n))
		}
		require.NoError(t, <-done)
		require.Len(t, c.states, 4)
	})
}

func TestAHeartbeatWhoseCallEndsWithItsContextEndsWithoutAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, status.NewHeartbeat(asked{}, time.Minute, nil).Run(ctx))
	})
}

func TestHeartbeatGoesOnAfterABeatOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		unknown, closed := fmt.Errorf("journal: %w", fault.ErrUnavailable), fmt.Errorf("lost: %w", fault.ErrClosed)
		c := &coordinator{answers: []error{nil, unknown, unknown, nil, closed}}
		require.ErrorIs(t, status.NewHeartbeat(c, time.Second, nil).Run(t.Context()), fault.ErrClosed)
		require.Len(t, c.states, 5)
	})
}
