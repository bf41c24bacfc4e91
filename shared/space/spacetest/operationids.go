package spacetest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// op is the id of the suite's session's n-th operation.
func op(n uint64) space.OpID { return space.OpID{Session: "test-1", Seq: n} }

// callAs calls a procedure with an operation id.
func (w *fixture) callAs(n uint64, procedure string, args ...any) (tuple.Tuple, error) {
	return w.repo.Call(w.Context(), op(n), procedure, args)
}

var operationIDs = []behaviour{
	{"a repeated operation returns its first answer and happens once", func(w *fixture) {
		w.put(w.s, "a", 1, 2)
		for range 3 {
			u, err := w.callAs(1, "test.claim", "s", "a", int64(0))
			require.NoError(w, err)
			require.Equal(w, int64(1), u.Int64(1))
			u[1] = nil // what the caller does to it changes nothing
		}
		u, err := w.callAs(2, "test.claim", "s", "a", int64(0))
		require.NoError(w, err)
		require.Equal(w, int64(2), u.Int64(1))
	}},
	{"an operation that failed may be tried again", func(w *fixture) {
		w.create("b", space.Options{Capacity: 1})
		put := func() error {
			_, err := w.callAs(1, "test.put", "b", item("a", 1), int64(0), "", false)
			return err
		}
		w.put(w.repo.Space("b"), "x", 9)
		require.ErrorIs(w, put(), fault.ErrOverloaded)
		require.Equal(w, 9, w.getP(w.repo.Space("b"), anything))
		require.NoError(w, put())
		require.NoError(w, put())
		require.Equal(w, 1, w.count(w.repo.Space("b"), "a"))
	}},
	{"a blocked operation that is repeated takes over the place of the first call, which fails", func(w *fixture) {
		claim := func() (tuple.Tuple, error) { return w.callAs(1, "test.claim", "s", "a", int64(0)) }
		first := w.begin(claim)
		get := w.get(w.s, anyItem("a"))
		second := w.begin(claim)
		require.ErrorIs(w, first.error(), fault.ErrConflict)
		w.put(w.s, "a", 1)
		require.Equal(w, 1, second.returns())
		get.waits()
		u, err := claim()
		require.NoError(w, err)
		require.Equal(w, int64(1), u.Int64(1), "the answer is kept although it came late")
		w.put(w.s, "a", 2)
		require.Equal(w, 2, get.returns())
	}},
	{"the id of another session is refused", func(w *fixture) {
		other := w.session("other", 0)
		_, err := other.Call(w.Context(), op(1), "test.token", nil)
		require.ErrorIs(w, err, fault.ErrInvalid)
	}},
	{"a window of answers is kept, and older operations are refused", func(w *fixture) {
		last := uint64(6 * space.Window)
		for n := uint64(1); n <= last; n++ {
			_, err := w.callAs(n, "test.token")
			require.NoError(w, err)
		}
		for n := last - space.Window + 1; n <= last; n++ {
			u, err := w.callAs(n, "test.token")
			require.NoError(w, err)
			require.Equal(w, int64(n), u.Int64(1))
		}
		_, err := w.callAs(1, "test.token")
		require.ErrorIs(w, err, fault.ErrConflict)
		require.Equal(w, int64(last+1), w.call(w.repo, "test.token").Int64(1), "none of these happened again")
	}},
	{"large answers are kept up to a bound, and no operation happens twice because of it", func(w *fixture) {
		large := tuple.New("a", int64(1), strings.Repeat("x", tuple.MaxBytes-100))
		last := uint64(space.WindowBytes/tuple.MaxBytes + 4)
		for n := uint64(1); n <= last; n++ {
			require.NoError(w, w.s.Put(w.Context(), large, 0))
		}
		get := func(n uint64) (tuple.Tuple, error) { return w.callAs(n, "test.get", "s", large) }
		for n := uint64(1); n <= last; n++ {
			u, err := get(n)
			require.NoError(w, err)
			require.Equal(w, large, u)
		}
		u, err := get(last)
		require.NoError(w, err)
		require.Equal(w, large, u)
		_, err = get(1)
		require.ErrorIs(w, err, fault.ErrConflict)
		require.NoError(w, w.s.Put(w.Context(), large, 0))
		_, err = get(1)
		require.ErrorIs(w, err, fault.ErrConflict)
		n, err := w.s.Count(w.Context(), large.Exactly())
		require.NoError(w, err)
		require.Equal(w, 1, n)
	}},
	{"the answer to a call that was blocked for long is kept as long as any", func(w *fixture) {
		claim := func() (tuple.Tuple, error) { return w.callAs(1, "test.claim", "s", "a", int64(0)) }
		blocked := w.begin(claim)
		for n := uint64(2); n < 6*space.Window; n++ {
			_, err := w.callAs(n, "test.token")
			require.NoError(w, err)
		}
		w.put(w.s, "a", 7)
		require.Equal(w, 7, blocked.returns())
		for n := uint64(0); n < space.Window/2; n++ {
			_, err := w.callAs(6*space.Window+n, "test.token")
			require.NoError(w, err)
		}
		u, err := claim()
		require.NoError(w, err)
		require.Equal(w, int64(7), u.Int64(1))
	}},
	{"the caller's numbers and the automatic ones do not age each other", func(w *fixture) {
		_, err := w.callAs(space.AutoSeq+1<<40, "test.token")
		require.NoError(w, err)
		for range 2 {
			u, err := w.callAs(1, "test.token")
			require.NoError(w, err)
			require.Equal(w, int64(2), u.Int64(1))
		}
	}},
	{"answers go with their session", func(w *fixture) {
		_, err := w.callAs(5000, "test.token")
		require.NoError(w, err)
		require.NoError(w, w.repo.Close(w.Context()))
		w.repo = w.session("test-1", 0)
		u, err := w.callAs(1, "test.token")
		require.NoError(w, err)
		require.Equal(w, int64(2), u.Int64(1))
	}},
}
