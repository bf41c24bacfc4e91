package status_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// newSessions returns sessions at a new engine with the protocol's spaces.
func newSessions(t *testing.T, ids ...string) (sessions []space.Repository) {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: spacetest.FailWrites(status.Procedures(), t.Errorf)})
	require.NoError(t, err)
	for _, id := range ids {
		s, err := e.Session(t.Context(), id, time.Minute)
		require.NoError(t, err)
		sessions = append(sessions, s)
	}
	for _, d := range status.Spaces() {
		require.NoError(t, sessions[0].Create(t.Context(), d.Name, d.Options))
	}
	return sessions
}

func TestADrainIsToldToTheSessionThatIsNamed(t *testing.T) {
	t.Parallel()
	s := newSessions(t, "admin", "worker-1", "worker-2")
	for _, w := range s[1:] {
		require.NoError(t, status.NewHeartbeat(w, time.Second, nil).Beat(t.Context()))
	}
	require.ErrorIs(t, status.Drain(t.Context(), s[0], "worker-3"), fault.ErrNotFound)
	require.ErrorIs(t, status.Drain(t.Context(), s[0], "admin"), fault.ErrNotFound, "it sends no heartbeats")
	require.NoError(t, s[0].Space(status.Space).Put(t.Context(), tuple.New("ghost", "idle", "now"), 0))
	require.ErrorIs(t, status.Drain(t.Context(), s[0], "ghost"), fault.ErrNotFound, "no session has this id")
	require.NoError(t, status.Drain(t.Context(), s[0], "worker-2"))
	message, err := s[2].Receive(t.Context())
	require.NoError(t, err)
	require.True(t, status.IsDrain(message))
	require.False(t, status.IsDrain(tuple.New("stop")))
}

func TestAHeartbeatReplacesStateAndActionsOfItsSessionOnly(t *testing.T) {
	t.Parallel()
	s := newSessions(t, "worker-1", "worker-2")
	beat := func(repo space.Repository, state string, serves map[string]int) {
		h := status.NewHeartbeat(repo, time.Second, serves)
		h.SetState(state)
		require.NoError(t, h.Beat(t.Context()))
	}
	beat(s[1], "idle", map[string]int{"research": 2, "exec": 1})
	beat(s[0], "idle", map[string]int{"research": 4, "exec": 1, "index": 3})
	beat(s[0], "busy", map[string]int{"research": 5})
	found, err := s[0].Space(status.Space).QueryAll(t.Context(), status.MatchServing(tuple.AnyString, tuple.AnyString))
	require.NoError(t, err)
	var serves []status.Serving
	for _, x := range found {
		serves = append(serves, status.DecodeServing(x))
	}
	require.ElementsMatch(t, []status.Serving{{"worker-1", "research", 5}, {"worker-2", "research", 2}, {"worker-2", "exec", 1}}, serves)
	state, err := s[0].Space(status.Space).QueryAll(t.Context(), status.AnyState())
	require.NoError(t, err)
	require.Len(t, state, 2)
	mine, err := s[0].Space(status.Space).Query(t.Context(), status.StateOf("worker-1"))
	require.NoError(t, err)
	require.Equal(t, "busy", status.DecodeState(mine).State)
}

func TestActionsThatAHeartbeatLeavesOutAreGoneInWhateverOrderTheyWereServed(t *testing.T) {
	t.Parallel()
	s := newSessions(t, "worker-1", "worker-2")
	all := map[string]int{"one": 1, "two": 2, "three": 3, "four": 4}
	require.NoError(t, status.NewHeartbeat(s[1], time.Second, all).Beat(t.Context()))
	for kept := range all {
		require.NoError(t, status.NewHeartbeat(s[0], time.Second, all).Beat(t.Context()))
		require.NoError(t, status.NewHeartbeat(s[0], time.Second, map[string]int{kept: 9}).Beat(t.Context()))
		for id, want := range map[string]int{"worker-1": 1, "worker-2": len(all)} {
			found, err := s[0].Space(status.Space).QueryAll(t.Context(), status.MatchServing(id, tuple.AnyString))
			require.NoError(t, err)
			require.Len(t, found, want, "%s serves %s", id, kept)
		}
	}
}

func TestAHeartbeatAtItsBoundsIsAcceptedAndBeyondThemNoSignOfLife(t *testing.T) {
	t.Parallel()
	s := newSessions(t, "worker-1")[0]
	beat := func(args ...any) error {
		_, err := s.Call(t.Context(), space.OpID{}, "status.beat", tuple.New(args...))
		return err
	}
	for _, bad := range [][]any{
		{}, {"idle"}, {"idle", int64(1)}, {int64(1), "now"}, {"idle", "now", "a"}, {"idle", "now", tuple.New("a")}, {"idle", "now", tuple.New(int64(1), "a")},
		{"idle", "now", tuple.New("a b", int64(1))}, {"idle", "now", tuple.New("a", int64(-1))}, {"idle", "now", tuple.New("a", int64(status.MaxSlots+1))}, {"idle", "now", tuple.New("a", int64(1)), tuple.New("b", int64(status.MaxSlots))},
		{"idle", "now", tuple.New("a", int64(1)), tuple.New("", int64(1))},
	} {
		require.ErrorIs(t, beat(bad...), fault.ErrInvalid, "%v", bad)
		n, err := s.Space(status.Space).Count(t.Context(), status.AnyState())
		require.NoError(t, err)
		require.Zero(t, n, "%v", bad)
	}
	for _, good := range [][]any{
		{"", ""}, {"idle", "now", tuple.New("a", int64(0))}, {"idle", "now", tuple.New("a", int64(1)), tuple.New("b", int64(status.MaxSlots-1))},
	} {
		require.NoError(t, beat(good...), "%v", good)
		found, err := s.Space(status.Space).QueryAll(t.Context(), status.MatchServing("worker-1", tuple.AnyString))
		require.NoError(t, err)
		require.Len(t, found, len(good)-2)
	}
}

// A foreign client may put a tuple with any number of slots.
func TestSlotsOfAnActionAreSummedWithoutOverflow(t *testing.T) {
	t.Parallel()
	var servers []status.Serving
	var slots int64
	count := func(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
		servers, slots = status.Servers(tx, "a"), status.Slots(tx, "a")
		return nil, nil
	}
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: space.Join(status.Procedures(), space.Procedures{"count": count})})
	require.NoError(t, err)
	s, err := e.Session(t.Context(), "worker-1", 0)
	require.NoError(t, err)
	for _, d := range status.Spaces() {
		require.NoError(t, s.Create(t.Context(), d.Name, d.Options))
	}
	for id, n := range map[string]int64{"none": 0, "negative": -5, "one": 1, "many": math.MaxInt64, "more": math.MaxInt64} {
		require.NoError(t, s.Space(status.Space).Put(t.Context(), tuple.New("serves", id, "a", n), 0))
	}
	_, err = s.Call(t.Context(), space.OpID{}, "count", nil)
	require.NoError(t, err)
	require.EqualValues(t, 1+2*status.MaxSlots, slots)
	require.Len(t, servers, 3)
}

// Invalid costs are refused, a sum does not overflow, and the number of pairs is bounded,
// because each is a tuple that stays.
func TestCostsAreSummedByActionAndWay(t *testing.T) {
	t.Parallel()
	s := newSessions(t, "worker-1")[0]
	spend := func(c models.Cost) error { return status.Spend(t.Context(), s, c) }
	a := models.Cost{Action: "research", How: "decoded", Tasks: 1, Wall: 20, CPU: 300, Windows: 4000}
	require.NoError(t, spend(a))
	require.NoError(t, spend(models.Cost{Action: "research", How: "kept", Tasks: 9}))
	for _, bad := range []models.Cost{
		{Action: "", How: "decoded"}, {Action: "research", How: "a b"},
		{Action: "research", How: "decoded", Tasks: -1}, {Action: "research", How: "decoded", Wall: -1},
		{Action: "research", How: "decoded", CPU: -1}, {Action: "research", How: "decoded", Windows: -1},
	} {
		require.ErrorIs(t, spend(bad), fault.ErrInvalid, "%+v", bad)
	}
	require.NoError(t, spend(a))
	costs := func() (of models.Cost) {
		all, err := status.Costs(t.Context(), s)
		require.NoError(t, err)
		for _, c := range all {
			if c.Action == "research" && c.How == "decoded" {
				of = c
			}
		}
		return of
	}
	require.Equal(t, models.Cost{Action: "research", How: "decoded", Tasks: 2, Wall: 40, CPU: 600, Windows: 8000}, costs())
	a.Tasks, a.Windows = math.MaxInt64, math.MaxInt64
	require.NoError(t, spend(a))
	a.Wall, a.CPU = 60, 900
	require.Equal(t, a, costs(), "a sum stays at the largest number")
	for i := range 62 {
		require.NoError(t, spend(models.Cost{Action: "other", How: fmt.Sprint("way-", i)}))
	}
	require.ErrorIs(t, spend(models.Cost{Action: "other", How: "one-more"}), fault.ErrOverloaded)
	require.NoError(t, spend(models.Cost{Action: "other", How: "way-0"}), "a known pair goes on")
}

func TestAHeartbeatThatCannotBeStoredIsAnError(t *testing.T) {
	t.Parallel()
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: status.Procedures()})
	require.NoError(t, err)
	s, err := e.Session(t.Context(), "worker-1", time.Minute) // the spaces do not exist
	require.NoError(t, err)
	for _, serves := range []map[string]int{nil, {"research": 1}} {
		require.ErrorIs(t, status.NewHeartbeat(s, time.Second, serves).Beat(t.Context()), fault.ErrNotFound)
	}
	require.ErrorIs(t, status.Spend(t.Context(), s, models.Cost{Action: "a", How: "b"}), fault.ErrNotFound)
	_, err = status.Costs(t.Context(), s)
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = status.Lines(t.Context(), s)
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestAHeartbeatReportsSinceWhenItsStateLasts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSessions(t, "worker-1")[0]
		h := status.NewHeartbeat(s, time.Second, nil)
		began := time.Now()
		for _, state := range []string{"idle", "busy"} {
			for range 2 { // the second time the state is the same
				h.SetState(state)
				require.NoError(t, h.Beat(t.Context()))
				found, err := s.Space(status.Space).Query(t.Context(), status.StateOf("worker-1"))
				require.NoError(t, err)
				want := status.SessionState{ID: "worker-1", State: state, Since: began.UTC().Format(time.RFC3339)}
				require.Equal(t, want, status.DecodeState(found))
				time.Sleep(time.Minute)
			}
			began = time.Now()
		}
	})
}

func TestASessionLivesWhileItSendsHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: status.Procedures()})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx) }()
		s, err := e.Session(t.Context(), "worker-1", time.Minute)
		require.NoError(t, err)
		for _, d := range status.Spaces() {
			require.NoError(t, s.Create(t.Context(), d.Name, d.Options))
		}
		h := status.NewHeartbeat(s, time.Second, nil)
		for range 4 {
			require.NoError(t, h.Beat(t.Context()))
			time.Sleep(40 * time.Second)
		}
		require.NoError(t, h.Beat(t.Context()))
		time.Sleep(2 * time.Minute)
		require.ErrorIs(t, h.Beat(t.Context()), fault.ErrClosed)
		stop()
		require.NoError(t, <-done)
	})
}

// The arguments of a heartbeat are one tuple, with a field for each action.
func TestASessionServesNoMoreActionsThanFitIntoItsHeartbeat(t *testing.T) {
	t.Parallel()
	s := newSessions(t, "worker-1")[0]
	serves := map[string]int{}
	for i := range status.MaxServed {
		serves[fmt.Sprint("action-", i)] = 1
	}
	require.NoError(t, status.NewHeartbeat(s, time.Second, serves).Beat(t.Context()))
	serves["one-more"] = 1
	require.ErrorIs(t, status.NewHeartbeat(s, time.Second, serves).Beat(t.Context()), fault.ErrInvalid)
}

// unknown is a transaction of a caller without a session.
type unknown struct{ space.Tx }

func (unknown) Caller() string { return "" }

func TestOnlyASessionSendsHeartbeatsAndLeaves(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]tuple.Tuple{"status.beat": tuple.New("idle", "now"), "status.leave": tuple.New("done")} {
		_, err := status.Procedures()[name](unknown{}, args)
		require.ErrorIs(t, err, fault.ErrInvalid, name)
	}
}

// writes is a transaction that counts writes.
type writes struct {
	space.Tx
	n *int
}

func (w writes) Put(name string, x tuple.Tuple, o space.PutOptions) (int64, error) {
	*w.n++
	return w.Tx.Put(name, x, o)
}

func (w writes) Replace(ref int64, x tuple.Tuple) error {
	*w.n++
	return w.Tx.Replace(ref, x)
}

func TestAHeartbeatWithoutNewsWritesNothing(t *testing.T) {
	t.Parallel()
	n := 0
	beat := status.Procedures()["status.beat"]
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: space.Procedures{
		"status.beat": func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) { return beat(writes{tx, &n}, args) },
	}})
	require.NoError(t, err)
	s, err := e.Session(t.Context(), "worker-1", time.Minute)
	require.NoError(t, err)
	for _, d := range status.Spaces() {
		require.NoError(t, s.Create(t.Context(), d.Name, d.Options))
	}
	h := status.NewHeartbeat(s, time.Second, map[string]int{"research": 1, "exec": 1})
	for _, want := range []int{4, 4} { // the state, the actions, and a line of the log
		require.NoError(t, h.Beat(t.Context()))
		require.Equal(t, want, n)
	}
	h.SetState("busy")
	require.NoError(t, h.Beat(t.Context()))
	require.Equal(t, 5, n)
}

func TestAHeartbeatAndADrainFailIfTheLogHasNoSpace(t *testing.T) {
	t.Parallel()
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: status.Procedures()})
	require.NoError(t, err)
	s, err := e.Session(t.Context(), "worker-1", time.Minute)
	require.NoError(t, err)
	require.NoError(t, s.Create(t.Context(), status.Space, space.Options{Volatile: true}))
	require.ErrorIs(t, status.NewHeartbeat(s, time.Second, nil).Beat(t.Context()), fault.ErrNotFound)
	require.NoError(t, s.Space(status.Space).Put(t.Context(), tuple.New("worker-1", "idle", "now"), 0))
	require.ErrorIs(t, status.Drain(t.Context(), s, "worker-1"), fault.ErrNotFound)
}
