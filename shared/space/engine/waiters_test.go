package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// The transaction leaves nothing to find, and the next tuple is for the get that waits.
func TestATupleThatComesAndGoesInOneTransactionServesNoWaiter(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(tx *transaction, ref int64) error{
		"taken": func(tx *transaction, ref int64) error { return tx.Take(ref) },
		"held":  func(tx *transaction, ref int64) error { return tx.Hold(ref, space.HoldOptions{}) },
	} {
		e, r := opened(t, nil)
		_, w := e.start(e.state.sessions["test-1"], space.Request{Verb: space.VerbGet, Space: "s", Template: tuple.Match("a")})
		require.NotNil(t, w, name)
		e.state.mu.Lock()
		tx := e.beginTransaction(nil)
		ref, err := tx.Put("s", tuple.New("a"), space.PutOptions{})
		require.NoError(t, err, name)
		require.NoError(t, tx.Hold(ref, space.HoldOptions{TTL: time.Hour}), name)
		require.NoError(t, tx.Back(ref, space.OldPlace), name)
		tx.caller = e.state.sessions["test-1"]
		require.NoError(t, leave(tx, ref), name)
		e.finishTransaction(tx, space.OpID{}, space.Reply{})
		e.wakeWaiters()
		require.Empty(t, e.state.newTuples, name)
		e.state.mu.Unlock()
		require.Equal(t, 1, e.Stats().Waiters, name)
		require.NoError(t, r.Space("s").Put(t.Context(), tuple.New("a"), 0), name)
		<-w.done
		require.Equal(t, tuple.New("a"), w.answer.reply.Tuple, name)
	}
}

// A get from a queue or a stack compares the head only, and is tried again with each new head.
func TestAWaiterOfAQueueIsServedWhenItsTupleBecomesTheHead(t *testing.T) {
	t.Parallel()
	for kind, puts := range map[space.Kind][]string{space.Queue: {"a", "b"}, space.Stack: {"b", "a"}} {
		e, r := opened(t, nil)
		require.NoError(t, r.Create(t.Context(), "q", space.Options{Kind: kind}))
		q, s := r.Space("q"), e.state.sessions["test-1"]
		if kind == space.Stack { // b is there before the waiter, below a
			for _, name := range puts {
				require.NoError(t, q.Put(t.Context(), tuple.New(name), 0))
			}
		}
		_, w := e.start(s, space.Request{Verb: space.VerbGet, Space: "q", Template: tuple.Match("b")})
		require.NotNil(t, w, kind)
		if kind == space.Queue {
			for _, name := range puts {
				require.NoError(t, q.Put(t.Context(), tuple.New(name), 0))
			}
		}
		require.Equal(t, 1, e.Stats().Waiters, "%s: it is not the head", kind)
		_, ok, err := q.GetP(t.Context(), tuple.Match("a"))
		require.NoError(t, err)
		require.True(t, ok, kind)
		<-w.done
		require.Equal(t, tuple.New("b"), w.answer.reply.Tuple, kind)
		require.Zero(t, e.Stats().Waiters, kind)
	}
}

// The expiry of one hold may take the tuple of another one that ends with the session too.
func TestAnExpiryMayTakeWhatItsSessionHoldsBeside(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(tx space.Tx, ref int64) error{
		"take":    func(tx space.Tx, ref int64) error { return tx.Take(ref) },
		"hold":    func(tx space.Tx, ref int64) error { return tx.Hold(ref, space.HoldOptions{NoSession: true}) },
		"nothing": func(space.Tx, int64) error { return nil },
	} {
		var first, second int64
		expired := 0
		e, _ := opened(t, space.Procedures{"end": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			expired++
			if args.Int64(0) == first {
				return nil, change(tx, second)
			}
			return nil, nil
		}})
		require.NoError(t, in(t, e, func(tx *transaction) error {
			for _, ref := range []*int64{&first, &second} {
				var err error
				*ref, err = tx.Put("s", tuple.New("a"), space.PutOptions{})
				require.NoError(t, err)
				require.NoError(t, tx.Hold(*ref, space.HoldOptions{Expiry: "end"}))
			}
			return nil
		}))
		require.NoError(t, space.Over(e.state.sessions["test-1"]).Close(t.Context()))
		require.Nil(t, e.state.entries[first].Hold, name)
		x := e.state.entries[second]
		require.Equal(t, name == "take", x == nil, name)
		require.Equal(t, name == "hold", x != nil && x.Hold != nil, name)
		require.Equal(t, map[string]int{"take": 1, "hold": 1, "nothing": 2}[name], expired, name)
	}
}

func TestAFactThatAJournalMustNotHoldIsDamage(t *testing.T) {
	t.Parallel()
	e, _ := opened(t, nil)
	r := restored{e: e, sessions: map[string]*journal.Session{}}
	for _, f := range []journal.Fact{journal.Gone(1), journal.Ended("w"), journal.Deleted("s"), journal.Forgotten{}} {
		require.ErrorIs(t, r.addFact(f), fault.ErrCorrupt, "%T", f)
	}
	require.NoError(t, r.addFact(journal.Token(7)))
	require.EqualValues(t, 7, e.state.lastToken)
	require.NoError(t, r.addFact(journal.Token(5)))
	require.EqualValues(t, 7, e.state.lastToken, "it does not go back")
}
