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

// Before a restart, after it while the session waits for its client, and after the client is
// back.
func TestSessionsAreDescribed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: j})
		r := opened(t, e)
		began := time.Now()
		worker := space.Process{Mode: "worker", Host: "mill", PID: 7, Version: "1.2"}
		opening := engine.Opening{ID: "w-1", TTL: time.Minute, Process: worker}
		conn, err := e.OpenGateSession(t.Context(), opening)
		require.NoError(t, err)
		w := space.Over(conn)
		require.NoError(t, r.Space("s").Put(t.Context(), item("a", 1), 0))
		call(t, w, "test.hold", "s", "a", int64(0), "", false)
		time.Sleep(2 * time.Second)
		call(t, w, "test.beat")
		go func() { _, _ = w.Space("s").Get(t.Context(), anyItem("never")) }()
		time.Sleep(time.Second)
		synctest.Wait()
		session(t, e, "api-1", 0)
		all := e.Sessions()
		require.Len(t, all, 3)
		require.Equal(t, "api", all[0].Process.Mode)
		require.Zero(t, all[0].Seen, "it has no TTL")
		all = all[1:]
		require.Equal(t, engine.SessionInfo{
			ID: "w-1", Process: worker, Opened: all[1].Opened, Seen: all[1].Seen, TTL: time.Minute, Holds: 1, Waits: 1,
		}, all[1])
		require.WithinDuration(t, began, all[1].Opened, 0)
		require.WithinDuration(t, began.Add(2*time.Second), all[1].Seen, 0)
		require.NoError(t, stop())

		e = run(t, engine.Config{Journal: j})
		all = e.Sessions()
		require.Len(t, all, 2, "those with a TTL")
		require.True(t, all[1].Waiting)
		require.Zero(t, all[1].Process)
		_, err = e.OpenGateSession(t.Context(), opening)
		require.NoError(t, err)
		require.False(t, e.Sessions()[1].Waiting)
		require.Equal(t, worker, e.Sessions()[1].Process)
	})
}

func TestEndingASessionGivesItsHoldsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := run(t, engine.Config{})
		r := opened(t, e)
		conn, err := e.OpenGateSession(t.Context(), engine.Opening{ID: "w-1", TTL: time.Hour})
		require.NoError(t, err)
		require.NoError(t, r.Space("s").Put(t.Context(), item("a", 1), 0))
		call(t, space.Over(conn), "test.hold", "s", "a", int64(0), "", false)
		waits := make(chan error, 1)
		go func() { _, err := space.Over(conn).Space("s").Get(t.Context(), anyItem("never")); waits <- err }()
		synctest.Wait()
		require.Zero(t, count(t, r, "s"))
		require.NoError(t, e.EndSession(t.Context(), "w-1"))
		require.Equal(t, 1, count(t, r, "s"))
		require.ErrorIs(t, <-waits, fault.ErrClosed)
		require.ErrorIs(t, conn.Err(), fault.ErrClosed)
		require.ErrorIs(t, e.EndSession(t.Context(), "w-1"), fault.ErrNotFound)
		require.ErrorIs(t, e.EndSession(t.Context(), "test-1"), fault.ErrForbidden)
	})
}

// A procedure sees the host of the session whose hold ends, although the session is gone.
func TestAnExpiryKnowsTheHostOfTheSessionThatEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hosts []string
		e := run(t, engine.Config{Procedures: space.Procedures{
			"hold": space.WithArgs1(func(tx space.Tx, ref int64) (tuple.Tuple, error) {
				return nil, tx.Hold(ref, space.HoldOptions{Expiry: "end"})
			}),
			"put": func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
				ref, err := tx.Put("s", item("a", 1), space.PutOptions{})
				return tuple.New(ref), err
			},
			"end": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
				_, x, err := space.Expiring(tx, args)
				hosts = append(hosts, tx.Host(x.Holder), tx.Host("nobody"))
				return nil, err
			},
		}})
		r := session(t, e, "test-1", 0)
		require.NoError(t, r.Create(t.Context(), "s", space.Options{}))
		conn, err := e.OpenGateSession(t.Context(), engine.Opening{ID: "w-1", TTL: time.Second, Process: space.Process{Host: "mill"}})
		require.NoError(t, err)
		call(t, space.Over(conn), "hold", call(t, r, "put")[0])
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"mill", ""}, hosts)
	})
}

// A client that comes back has its whole TTL again, also if it sends nothing else.
func TestASessionThatIsOpenedAgainLivesItsTTLFromThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		e, stop := restartable(t, engine.Config{Journal: j})
		opening := engine.Opening{ID: "w-1", TTL: time.Minute}
		_, err := e.OpenGateSession(t.Context(), opening)
		require.NoError(t, err)
		require.NoError(t, stop())

		e = run(t, engine.Config{Journal: j})
		time.Sleep(50 * time.Second)
		_, err = e.OpenGateSession(t.Context(), opening)
		require.NoError(t, err)
		time.Sleep(50 * time.Second)
		require.Len(t, e.Sessions(), 1)
		time.Sleep(11 * time.Second)
		require.Empty(t, e.Sessions())
	})
}

// The owner of the work of a session learns at once that it was lost, and nothing of one that ended in
// order.
func TestOnlyTheLossOfASessionIsToldToTheOwnerOfTheEngine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lost []string
		e := run(t, engine.Config{SessionLost: func(id string, p space.Process) { lost = append(lost, id+" at "+p.Host) }})
		dial := func(id string) engine.GateSession {
			conn, err := e.OpenGateSession(t.Context(), engine.Opening{ID: id, TTL: time.Minute, Process: space.Process{Host: "mill"}})
			require.NoError(t, err)
			return conn
		}
		closed, ended, broken := dial("closed"), dial("ended"), dial("broken")
		dial("silent")
		require.NoError(t, space.Over(closed).Close(t.Context()))
		require.NoError(t, e.EndSession(t.Context(), "ended"))
		require.Empty(t, lost)
		broken.Lose()
		require.Equal(t, []string{"broken at mill"}, lost)
		broken.Lose()
		ended.Lose()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"broken at mill", "silent at mill"}, lost)
		select {
		case <-broken.Ended():
		default:
			require.Fail(t, "it has ended")
		}
	})
}

func TestTheErrorOfAnEndedSessionTellsHowItEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := run(t, engine.Config{})
		for name, c := range map[string]struct {
			ttl  time.Duration
			end  func(engine.GateSession)
			says string
		}{
			"closed": {time.Minute, func(s engine.GateSession) { require.NoError(t, space.Over(s).Close(t.Context())) }, "session closed: "},
			"silent": {time.Minute, func(engine.GateSession) { time.Sleep(time.Minute) }, "no sign of life for 1m0s"},
			"broken": {0, func(s engine.GateSession) { s.Lose() }, "was lost with its connection"},
		} {
			s, err := e.OpenGateSession(t.Context(), engine.Opening{ID: name, TTL: c.ttl})
			require.NoError(t, err)
			require.NoError(t, s.Err())
			c.end(s)
			require.ErrorIs(t, s.Err(), fault.ErrClosed)
			require.ErrorContains(t, s.Err(), c.says)
		}
	})
}

// A client must not wait for an opening that it has given up.
func TestASessionIsNotOpenedForACallerThatHasEnded(t *testing.T) {
	t.Parallel()
	e := run(t, engine.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.Session(ctx, "late", 0)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, e.Sessions())
	_, err = e.OpenGateSession(t.Context(), engine.Opening{ID: "never", Resume: true})
	require.ErrorIs(t, err, fault.ErrClosed)
	_, err = e.OpenGateSession(t.Context(), engine.Opening{ID: "negative", TTL: -1})
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.Empty(t, e.Sessions())
}

// The clock of a test, or of a simulation, decides when deadlines are over. A late reading means that the process did
// not run, which ends nothing.
func TestDeadlinesFollowTheClockOfTheConfiguration(t *testing.T) {
	t.Parallel()
	now := time.Now()
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Now: func() time.Time { return now }, Log: quiet})
	require.NoError(t, err)
	r := opened(t, e)
	require.NoError(t, r.Space("s").Put(t.Context(), item("a", 1), 10*time.Second))
	for range 3 { // 7.5 s
		now = now.Add(2500 * time.Millisecond)
		require.Equal(t, 1, count(t, r, "s"))
	}
	for range 2 {
		now = now.Add(2500*time.Millisecond + 1)
		require.Equal(t, 1, count(t, r, "s"), "the process did not run")
	}
	now = now.Add(2500*time.Millisecond - 1)
	require.Equal(t, 1, count(t, r, "s"))
	now = now.Add(1)
	require.Zero(t, count(t, r, "s"))
}
