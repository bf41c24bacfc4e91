package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// restarted runs before over an engine, and after over another one that opens its journal
// a day later.
func restarted(t *testing.T, before, after func(*testing.T, *engine.Engine)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: m})
		before(t, e)
		require.NoError(t, stop())
		time.Sleep(24 * time.Hour)
		after(t, run(t, engine.Config{Journal: m}))
	})
}

func TestTuplesSurviveARestartInOrder(t *testing.T) {
	restarted(t, func(t *testing.T, e *engine.Engine) {
		r := opened(t, e)
		for n := range 100 {
			require.NoError(t, r.Space("s").Put(t.Context(), item("a", n), 0))
			require.NoError(t, r.Space("v").Put(t.Context(), item("a", n), 0))
		}
		u, err := r.Space("s").Get(t.Context(), anything)
		require.NoError(t, err)
		require.Equal(t, item("a", 0), u)
		ref := call(t, r, "test.hold", "s", "a", int64(0), "", false)[0]
		call(t, r, "test.back", ref, true)
	}, func(t *testing.T, e *engine.Engine) {
		r := session(t, e, "test-1", 0)
		all, err := r.Space("s").QueryAll(t.Context(), anything)
		require.NoError(t, err)
		require.Len(t, all, 99)
		require.Equal(t, item("a", 1), all[98])
		for n, u := range all[:98] {
			require.Equal(t, item("a", n+2), u)
		}
		require.Zero(t, count(t, r, "v"))
		infos, err := r.List(t.Context())
		require.NoError(t, err)
		require.Len(t, infos, 3)
	})
}

func TestFault21DeadlinesAreOnlyLengthenedByARestart(t *testing.T) {
	restarted(t, func(t *testing.T, e *engine.Engine) {
		r := opened(t, e)
		require.NoError(t, r.Space("s").Put(t.Context(), item("ttl", 1), 30*time.Minute))
		require.NoError(t, r.Space("s").Put(t.Context(), item("held", 1), 0))
		call(t, r, "test.hold", "s", "held", int64(20*time.Minute), "test.on.leave", false)
		time.Sleep(10 * time.Minute)
		require.NoError(t, r.Space("s").Put(t.Context(), item("mark", 1), 0))
	}, func(t *testing.T, e *engine.Engine) {
		r := session(t, e, "test-1", 0)
		time.Sleep(10*time.Minute - 1)
		require.Equal(t, 2, count(t, r, "s"))
		time.Sleep(time.Nanosecond)
		require.Equal(t, 3, count(t, r, "s"), "the hold has ended")
		time.Sleep(10 * time.Minute)
		require.Equal(t, 2, count(t, r, "s"), "the TTL has ended")
	})
}

func TestFault22SessionsGetAGraceOfTheirTTLAfterARestart(t *testing.T) {
	restarted(t, func(t *testing.T, e *engine.Engine) {
		r := opened(t, e)
		back, gone, never := session(t, e, "back", time.Minute), session(t, e, "gone", time.Minute), session(t, e, "never", 0)
		for _, s := range []space.Repository{back, gone, never} {
			require.NoError(t, r.Space("s").Put(t.Context(), item("held", 1), 0))
			call(t, s, "test.hold", "s", "held", int64(0), "test.on.leave", false)
			call(t, s, "test.put", "s", item("mine", 1), int64(0), "", true)
		}
	}, func(t *testing.T, e *engine.Engine) {
		r := session(t, e, "test-1", 0)
		require.Equal(t, 3, count(t, r, "s"), "a session without a TTL cannot come back")
		back := session(t, e, "back", 0)
		_, err := e.Session(t.Context(), "back", 0)
		require.ErrorIs(t, err, fault.ErrConflict)
		time.Sleep(time.Minute - 1)
		require.Equal(t, 3, count(t, r, "s"))
		call(t, back, "test.beat")
		time.Sleep(time.Nanosecond)
		require.Equal(t, 3, count(t, r, "s"), "the session that is gone has lost its own tuple, and given one back")
		held := call(t, r, "test.held", "s", "held")
		require.Len(t, held, 1)
		for cause, why := range map[space.Cause]string{space.Lost: "who is gone", space.Closed: "who ended with its process hands back"} {
			n, err := r.Space("log").Count(t.Context(), tuple.Match(string(cause), tuple.AnyInt64, tuple.AnyString))
			require.NoError(t, err)
			require.Equal(t, 1, n, why)
		}
	})
}

func TestASessionWithoutATTLHasAGraceAfterARestartIfItsClientHasItsKey(t *testing.T) {
	restarted := func(t *testing.T) (*engine.Engine, space.Repository) {
		m := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: m})
		r := opened(t, e)
		for _, id := range []string{"back", "gone"} {
			s, err := e.OpenGateSession(t.Context(), engine.Opening{ID: id, Key: []byte(id)})
			require.NoError(t, err)
			require.NoError(t, r.Space("s").Put(t.Context(), item("held", 1), 0))
			call(t, space.Over(s), "test.hold", "s", "held", int64(0), "test.on.leave", false)
		}
		require.NoError(t, stop())
		e = run(t, engine.Config{Journal: m, Grace: 6 * time.Second})
		return e, session(t, e, "test-1", 0)
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, r := restarted(t)
		require.Equal(t, 0, count(t, r, "s"), "both hold their tuples")
		_, err := e.OpenGateSession(t.Context(), engine.Opening{ID: "back", Resume: true, Key: []byte("another")})
		require.ErrorIs(t, err, fault.ErrConflict)
		_, err = e.OpenGateSession(t.Context(), engine.Opening{ID: "back", Resume: true, Key: []byte("back")})
		require.NoError(t, err)
		time.Sleep(6*time.Second - 1)
		require.Len(t, call(t, r, "test.held", "s", "held"), 2)
		time.Sleep(time.Minute)
		require.Len(t, call(t, r, "test.held", "s", "held"), 1, "the other has come back")
		_, err = e.OpenGateSession(t.Context(), engine.Opening{ID: "gone", Resume: true, Key: []byte("gone")})
		require.ErrorIs(t, err, fault.ErrClosed)
	})
}

func TestFault26AnswersAndNumbersSurviveARestart(t *testing.T) {
	var ref, token int64
	op := func(n uint64) space.OpID { return space.OpID{Session: "test-1", Seq: n} }
	restarted(t, func(t *testing.T, e *engine.Engine) {
		r := opened(t, e)
		for n := uint64(1); n < 5*space.Window; n++ {
			reply, err := r.Call(t.Context(), op(n), "test.token", nil)
			require.NoError(t, err)
			token = reply.Int64(1)
		}
		ref = call(t, r, "test.put", "s", item("a", 1), int64(0), "", false).Int64(0)
		call(t, r, "test.take", ref)
	}, func(t *testing.T, e *engine.Engine) {
		r := session(t, e, "test-1", 0)
		reply, err := r.Call(t.Context(), op(5*space.Window-1), "test.token", nil)
		require.NoError(t, err)
		require.Equal(t, token, reply.Int64(1))
		_, err = r.Call(t.Context(), op(1), "test.token", nil)
		require.ErrorIs(t, err, fault.ErrConflict)
		require.Greater(t, call(t, r, "test.token").Int64(1), token)
		require.Greater(t, call(t, r, "test.put", "s", item("a", 2), int64(0), "", false).Int64(0), ref, "a ref identifies one tuple for ever")
	})
}

func TestWhatIsPendingWhenTheEngineStopsIsMadeDurable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: m})
		r := opened(t, e)
		var commits []int
		m.Before = slow(&commits)
		done, blocked := make(chan error, 10), make(chan error, 1)
		for n := range 10 {
			go func() { done <- r.Space("s").Put(context.Background(), item("a", n), 0) }()
		}
		go func() { _, err := r.Space("s").Get(context.Background(), anyItem("b")); blocked <- err }()
		synctest.Wait()
		require.NoError(t, stop())
		require.ErrorIs(t, <-blocked, fault.ErrClosed)
		for range 10 {
			require.NoError(t, <-done)
		}
		require.ErrorIs(t, r.Space("s").Put(t.Context(), item("a", 1), 0), fault.ErrClosed)
		m.Before = nil
		require.Equal(t, 10, count(t, session(t, run(t, engine.Config{Journal: m}), "test-1", 0), "s"))
	})
}

func TestStoppingWithAJournalThatFailsSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: m})
		r := opened(t, e)
		m.Before = func(context.Context, []journal.Record) error { time.Sleep(time.Second); return errDisk }
		done := make(chan error, 1)
		go func() { done <- r.Space("s").Put(context.Background(), item("a", 1), 0) }()
		synctest.Wait()
		require.NoError(t, stop(), "the put's own commit fails, and nothing else is pending")
		require.ErrorIs(t, <-done, fault.ErrUnavailable)
	})
}
