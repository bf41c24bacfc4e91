package spacetest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Dial is Open for tests that send requests themselves.
type Dial func(ctx context.Context, id string, ttl time.Duration) (space.Conn, error)

// ExerciseAcknowledged runs the suite of gets that are acknowledged. A Repository does not
// have them, because they are for the connection that carries its requests.
func ExerciseAcknowledged(t *testing.T, start func(t *testing.T, p space.Procedures) Dial) {
	for _, b := range acknowledgements {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				dial := start(t, Procedures())
				w := &carrier{dial: dial}
				w.fixture = newFixture(t, func(*testing.T, space.Procedures) Open {
					return func(ctx context.Context, id string, ttl time.Duration) (space.Repository, error) {
						c, err := dial(ctx, id, ttl)
						if err != nil {
							return nil, err
						}
						return space.Over(c), nil
					}
				})
				c, err := dial(t.Context(), "carrier", time.Minute)
				require.NoError(t, err)
				w.conn = c
				b.run(w)
			})
		})
	}
}

// carrier is a fixture with a session whose gets are acknowledged.
type carrier struct {
	*fixture
	dial Dial
	conn space.Conn
}

// do sends a request with the operation number n of the carrier's session; a get is to be
// acknowledged.
func (w *carrier) do(v space.Verb, n uint64, p tuple.Template) (space.Reply, error) {
	return w.conn.Do(w.Context(), space.Request{Verb: v, Space: "s", Template: p, Ack: v.Takes(), Op: space.OpID{Session: "carrier", Seq: n}})
}

// takes requires that the get with that number takes the item with number item.
func (w *carrier) takes(v space.Verb, n uint64, item int) {
	w.Helper()
	r, err := w.do(v, n, anyItem("a"))
	require.NoError(w, err)
	require.Equal(w, int64(item), r.Tuple.Int64(1))
}

// ends requires that ack or back succeeds.
func (w *carrier) ends(v space.Verb, n uint64) {
	w.Helper()
	_, err := w.do(v, n, nil)
	require.NoError(w, err)
}

var acknowledgements = []struct {
	name string
	run  func(*carrier)
}{
	{"a taken tuple is gone for all sessions, and stays gone once the get is acknowledged", func(w *carrier) {
		ref := w.call(w.repo, "test.put", "s", item("a", 1), int64(0), "", false)[0]
		w.takes(space.VerbGet, 1, 1)
		require.Empty(w, w.numbers(w.s))
		require.Equal(w, tuple.New(), w.call(w.repo, "test.held", "s", "a"))
		require.Equal(w, tuple.New(false, false, "", tuple.New()), w.call(w.repo, "test.entry", ref))
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.take", tuple.New(ref))
		require.ErrorIs(w, err, fault.ErrNotFound)
		w.ends(space.VerbAck, 1)
		w.ends(space.VerbAck, 1)
		w.ends(space.VerbBack, 1)
		time.Sleep(time.Minute)
		require.Empty(w, w.numbers(w.s))
	}},
	{"a tuple whose get was not acknowledged is back at its old place when the session is lost", func(w *carrier) {
		w.put(w.s, "a", 1, 2, 3, 4)
		w.takes(space.VerbGet, 1, 1)
		w.takes(space.VerbGetP, 2, 2)
		w.takes(space.VerbGetP, 3, 3)
		w.ends(space.VerbAck, 2)
		time.Sleep(time.Minute - 1)
		require.Equal(w, []int{4}, w.numbers(w.s))
		time.Sleep(time.Nanosecond)
		require.Equal(w, []int{1, 3, 4}, w.numbers(w.s))
	}},
	{"a tuple whose get was not acknowledged is back when the session is closed", func(w *carrier) {
		w.put(w.s, "a", 1)
		w.takes(space.VerbGet, 1, 1)
		get := w.get(w.s, anyItem("a"))
		require.NoError(w, space.Over(w.conn).Close(w.Context()))
		require.Equal(w, 1, get.returns())
	}},
	{"a get that is repeated has its first answer until it is acknowledged", func(w *carrier) {
		w.put(w.s, "a", 1, 2)
		for range 3 {
			w.takes(space.VerbGet, 1, 1)
		}
		require.Equal(w, []int{2}, w.numbers(w.s))
	}},
	{"a get that is repeated after it was acknowledged is refused, and takes nothing", func(w *carrier) {
		w.put(w.s, "a", 1, 2)
		w.takes(space.VerbGet, 1, 1)
		w.ends(space.VerbAck, 1)
		_, err := w.do(space.VerbGet, 1, anyItem("a"))
		require.ErrorIs(w, err, fault.ErrConflict)
		require.Equal(w, []int{2}, w.numbers(w.s))
	}},
	{"a get that is repeated has its answer however large later ones are", func(w *carrier) {
		large := tuple.New("a", int64(1), strings.Repeat("x", tuple.MaxBytes-100))
		w.put(w.s, "a", 1, 2)
		w.takes(space.VerbGet, 1, 1)
		r, err := w.do(space.VerbGetAll, 2, anyItem("a"))
		require.NoError(w, err)
		require.Equal(w, []int{2}, numbersOf(r.Tuples))
		for n := range space.WindowBytes/tuple.MaxBytes + 4 {
			require.NoError(w, w.s.Put(w.Context(), large, 0))
			_, err := w.do(space.VerbGet, uint64(n+3), large.Exactly())
			require.NoError(w, err)
			w.ends(space.VerbAck, uint64(n+3))
		}
		w.takes(space.VerbGet, 1, 1)
		r, err = w.do(space.VerbGetAll, 2, anyItem("a"))
		require.NoError(w, err)
		require.Equal(w, []int{2}, numbersOf(r.Tuples))
		w.ends(space.VerbAck, 1)
		_, err = w.do(space.VerbGet, 1, anyItem("a"))
		require.ErrorIs(w, err, fault.ErrConflict, "it was acknowledged, so its answer is no longer needed")
	}},
	{"a get that is taken back leaves its tuple at its old place, and wakes waiters", func(w *carrier) {
		w.put(w.s, "a", 1, 2)
		w.takes(space.VerbGet, 1, 1)
		w.ends(space.VerbBack, 1)
		require.Equal(w, []int{1, 2}, w.numbers(w.s))
		w.takes(space.VerbGet, 2, 1)
		w.takes(space.VerbGet, 3, 2)
		get := w.get(w.s, anyItem("a"))
		w.ends(space.VerbBack, 3)
		require.Equal(w, 2, get.returns())
	}},
	{"a blocked get that is taken back never takes", func(w *carrier) {
		get := w.begin(func() (tuple.Tuple, error) { r, err := w.do(space.VerbGet, 1, anyItem("a")); return r.Tuple, err })
		w.ends(space.VerbBack, 1)
		require.ErrorIs(w, get.error(), context.Canceled)
		w.put(w.s, "a", 1)
		require.Equal(w, []int{1}, w.numbers(w.s))
	}},
	{"a blocked get that is served is acknowledged like any", func(w *carrier) {
		get := w.begin(func() (tuple.Tuple, error) { r, err := w.do(space.VerbGet, 1, anyItem("a")); return r.Tuple, err })
		w.put(w.s, "a", 1)
		require.Equal(w, 1, get.returns())
		time.Sleep(time.Minute)
		require.Equal(w, []int{1}, w.numbers(w.s))
	}},
	{"all that one get took comes back together", func(w *carrier) {
		w.put(w.s, "a", 1, 2, 3)
		r, err := w.do(space.VerbGetAll, 1, anything)
		require.NoError(w, err)
		require.Equal(w, []int{1, 2, 3}, numbersOf(r.Tuples))
		require.Empty(w, w.numbers(w.s))
		w.put(w.s, "a", 4)
		w.ends(space.VerbBack, 1)
		require.Equal(w, []int{1, 2, 3, 4}, w.numbers(w.s))
	}},
	{"a get with a limit that is repeated has its answer, and what it took comes back", func(w *carrier) {
		w.put(w.s, "a", 1, 2, 3)
		for range 2 {
			r, err := w.conn.Do(w.Context(), space.Request{Verb: space.VerbGetUpTo, Op: space.OpID{Session: "carrier", Seq: 1}, Ack: true, Space: "s", Template: anything, Limit: 2})
			require.NoError(w, err)
			require.Equal(w, []int{1, 2}, numbersOf(r.Tuples))
			require.Equal(w, []int{3}, w.numbers(w.s))
		}
		w.ends(space.VerbBack, 1)
		require.Equal(w, []int{1, 2, 3}, w.numbers(w.s))
	}},
	{"several gets are acknowledged at once, or taken back", func(w *carrier) {
		w.put(w.s, "a", 1, 2, 3, 4, 5)
		for n := range 5 {
			w.takes(space.VerbGetP, uint64(n+1), n+1)
		}
		for v, ops := range map[space.Verb][]uint64{space.VerbAck: {1, 2, 3}, space.VerbBack: {4, 5}} {
			_, err := w.conn.Do(w.Context(), space.Request{Verb: v, Op: space.OpID{Session: "carrier", Seq: ops[0]}, Acknowledged: ops[1:]})
			require.NoError(w, err)
		}
		require.Equal(w, []int{4, 5}, w.numbers(w.s))
		time.Sleep(time.Minute)
		require.Equal(w, []int{4, 5}, w.numbers(w.s))
	}},
	{"a taken tuple frees capacity at once", func(w *carrier) {
		require.NoError(w, w.repo.Create(w.Context(), "b", space.Options{Capacity: 1}))
		b := w.repo.Space("b")
		w.put(b, "a", 1)
		_, err := w.conn.Do(w.Context(), space.Request{Verb: space.VerbGet, Space: "b", Template: anything, Ack: true, Op: space.OpID{Session: "carrier", Seq: 1}})
		require.NoError(w, err)
		require.NoError(w, b.PutP(w.Context(), item("a", 2), 0))
		w.ends(space.VerbBack, 1)
		require.Equal(w, []int{1, 2}, w.numbers(b))
		require.ErrorIs(w, b.PutP(w.Context(), item("a", 3), 0), fault.ErrOverloaded)
	}},
	{"a TTL that passed meanwhile ends when the tuple comes back", func(w *carrier) {
		require.NoError(w, w.s.Put(w.Context(), item("a", 1), time.Second))
		w.takes(space.VerbGet, 1, 1)
		time.Sleep(time.Second)
		w.ends(space.VerbBack, 1)
		require.Empty(w, w.numbers(w.s))
	}},
	{"subscribers see a take, and back only if it comes back", func(w *carrier) {
		sub, err := w.s.Notify(w.Context(), nil)
		require.NoError(w, err)
		w.put(w.s, "a", 1, 2)
		w.takes(space.VerbGet, 1, 1)
		w.ends(space.VerbAck, 1)
		w.takes(space.VerbGet, 2, 2)
		w.ends(space.VerbBack, 2)
		events, _, err := sub.Next(w.Context())
		require.NoError(w, err)
		var changes []space.Change
		for _, e := range events {
			changes = append(changes, e.Change)
		}
		require.Equal(w, []space.Change{space.Put, space.Put, space.Take, space.Take, space.Back}, changes)
	}},
	{"an acknowledgement needs the id of an operation of its session", func(w *carrier) {
		for _, r := range []space.Request{
			{Verb: space.VerbAck}, {Verb: space.VerbBack},
			{Verb: space.VerbAck, Op: space.OpID{Session: "test-1", Seq: 1}},
		} {
			_, err := w.conn.Do(w.Context(), r)
			require.ErrorIs(w, err, fault.ErrInvalid)
		}
	}},
	{"an operation with Recent is never too old", func(w *carrier) {
		claim := space.Request{Verb: space.VerbCall, Procedure: "test.token", Op: space.OpID{Session: "carrier", Seq: 5000}}
		_, err := w.conn.Do(w.Context(), claim)
		require.NoError(w, err)
		claim.Op.Seq = 1
		_, err = w.conn.Do(w.Context(), claim)
		require.ErrorIs(w, err, fault.ErrConflict)
		claim.Recent = true
		for range 2 {
			r, err := w.conn.Do(w.Context(), claim)
			require.NoError(w, err)
			require.Equal(w, int64(2), r.Tuple.Int64(1))
		}
	}},
}
