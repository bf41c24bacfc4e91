package engine

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/tuple"
)

// telling returns an engine with a procedure that sends a session n numbers from 1 on, and after 50 from 1 again.
func telling(t *testing.T) (*Engine, space.Repository) {
	t.Helper()
	e, err := Open(t.Context(), Config{Journal: &journal.Memory{}, Memory: memory.New(1 << 30), Procedures: space.Procedures{
		"tell": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			for n := range args.Int64(1) {
				tx.Tell(args.Str(0), tuple.New(n%50+1)) // of one size
			}
			return nil, nil
		},
	}})
	require.NoError(t, err)
	r, err := e.Session(t.Context(), "test-1", 0)
	require.NoError(t, err)
	return e, r
}

// Messages that come together give one signal, and each of the calls that wait must get one.
func TestMessagesOfOneTransactionReachAllCallsThatWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, r := telling(t)
		const calls = 5
		got := make(chan int64, calls)
		for range calls {
			go func() {
				if m, err := r.Receive(context.Background()); err == nil {
					got <- m.Int64(0)
				}
			}()
		}
		synctest.Wait()
		_, err := r.Call(t.Context(), space.OpID{}, "tell", tuple.New("test-1", int64(calls)))
		require.NoError(t, err)
		synctest.Wait()
		require.Len(t, got, calls)
		require.NoError(t, r.Close(t.Context()))
	})
}

func TestAnInboxKeepsTheNewestMessagesAndItsMemoryIsFreed(t *testing.T) {
	t.Parallel()
	e, r := telling(t)
	other, err := e.Session(t.Context(), "test-2", 0)
	require.NoError(t, err)
	s := e.state.sessions["test-1"]
	before := e.Stats().Memory
	for _, to := range []string{"test-1", "nobody"} {
		_, err = other.Call(t.Context(), space.OpID{}, "tell", tuple.New(to, int64(maxInbox+3)))
		require.NoError(t, err)
		require.Len(t, s.inbox, maxInbox)
	}
	message := messageCost + tupleCost(tuple.New(int64(1)))
	require.Equal(t, before+maxInbox*message, e.Stats().Memory)
	for n := range 3 {
		m, err := r.Receive(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, n+4, m.Int64(0), "the oldest three were dropped")
	}
	require.Equal(t, before+(maxInbox-3)*message, e.Stats().Memory)
	require.NoError(t, r.Close(t.Context()))
	require.Equal(t, before-sessionCost, e.Stats().Memory)
	_, err = r.Receive(t.Context())
	require.ErrorIs(t, err, fault.ErrClosed)
}
