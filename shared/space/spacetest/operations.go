package spacetest

import (
	"context"
	"errors"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var operations = []behaviour{
	{"a session knows its name", func(w *fixture) {
		require.Equal(w, "test-1", w.repo.Session())
		require.Equal(w, "s", w.s.Name())
	}},
	{"creating a space again with equal options does nothing, with others it is a conflict", func(w *fixture) {
		w.put(w.s, "a", 1)
		w.create("s", space.Options{Kind: space.Sequential, Capacity: space.DefaultCapacity})
		require.Equal(w, 1, w.count(w.s, "a"))
		err := w.repo.Create(w.Context(), "s", space.Options{Kind: space.Queue})
		require.ErrorIs(w, err, fault.ErrConflict)
	}},
	{"invalid options are refused", func(w *fixture) {
		for _, o := range []space.Options{
			{Kind: "heap"}, {Overflow: "spill"}, {Capacity: -1}, {OrderBy: -1}, {OrderBy: tuple.MaxArity},
		} {
			require.ErrorIs(w, w.repo.Create(w.Context(), "x", o), fault.ErrInvalid, "%+v", o)
		}
		require.ErrorIs(w, w.repo.Create(w.Context(), "", space.Options{}), fault.ErrInvalid)
	}},
	{"list describes all spaces by name", func(w *fixture) {
		o := space.Options{Kind: space.Ordered, OrderBy: 1, Capacity: 7, Overflow: space.DropOldest, Volatile: true}
		w.put(w.create("b", o), "a", 1, 2, 3)
		w.call(w.repo, "test.hold", "b", "a", int64(0), "", false)
		infos, err := w.repo.List(w.Context())
		require.NoError(w, err)
		s, err := space.Options{}.Normalize()
		require.NoError(w, err)
		require.Equal(w, []space.Info{
			{Name: "b", Options: o, Visible: 2, Held: 1}, {Name: "log", Options: s}, {Name: "s", Options: s},
		}, infos)
	}},
	{"a tuple that was put can be queried, got once, and is gone", func(w *fixture) {
		w.put(w.s, "a", 1)
		got, err := w.s.Query(w.Context(), anyItem("a"))
		require.NoError(w, err)
		require.Equal(w, item("a", 1), got)
		require.Equal(w, 1, w.queryP(w.s, anyItem("a")))
		got, err = w.s.Get(w.Context(), anyItem("a"))
		require.NoError(w, err)
		require.Equal(w, item("a", 1), got)
		require.Zero(w, w.queryP(w.s, anyItem("a")))
		require.Zero(w, w.getP(w.s, anyItem("a")))
	}},
	{"a space is a multiset", func(w *fixture) {
		w.put(w.s, "a", 1, 1, 1)
		require.Equal(w, 3, w.count(w.s, "a"))
		require.Equal(w, 1, w.getP(w.s, anyItem("a")))
		require.Equal(w, 2, w.count(w.s, "a"))
	}},
	{"the forms for all return and take all matches and no others", func(w *fixture) {
		w.put(w.s, "a", 1, 2)
		w.put(w.s, "b", 3)
		all, err := w.s.QueryAll(w.Context(), anyItem("a"))
		require.NoError(w, err)
		require.Equal(w, []int{1, 2}, numbersOf(all))
		all, err = w.s.GetAll(w.Context(), anyItem("a"))
		require.NoError(w, err)
		require.Equal(w, []int{1, 2}, numbersOf(all))
		require.Equal(w, []int{3}, w.numbers(w.s))
		all, err = w.s.GetAll(w.Context(), anyItem("a"))
		require.NoError(w, err)
		require.Empty(w, all)
	}},
	{"the forms with a limit return and take the first matches up to it", func(w *fixture) {
		w.put(w.s, "a", 1, 2, 3)
		w.put(w.s, "b", 4)
		for _, c := range []struct {
			find  func(context.Context, tuple.Template, int) ([]tuple.Tuple, error)
			limit int
			want  []int
		}{
			{w.s.QueryUpTo, 2, []int{1, 2}}, {w.s.QueryUpTo, 9, []int{1, 2, 3}}, {w.s.GetUpTo, 2, []int{1, 2}},
			{w.s.QueryUpTo, 2, []int{3}}, {w.s.GetUpTo, 3, []int{3}}, {w.s.GetUpTo, 3, nil},
		} {
			all, err := c.find(w.Context(), anyItem("a"), c.limit)
			require.NoError(w, err)
			require.Equal(w, c.want, numbersOf(all))
		}
		require.Equal(w, []int{4}, w.numbers(w.s))
		for _, limit := range []int{0, -1} {
			_, err := w.s.GetUpTo(w.Context(), anything, limit)
			require.ErrorIs(w, err, fault.ErrInvalid)
			require.ErrorContains(w, err, "want a limit of at least 1")
		}
	}},
	{"the forms with a limit return what fits one reply", func(w *fixture) {
		const all = 2 * space.MaxReply / tuple.MaxBytes
		large := tuple.New("a", int64(1), string(make([]byte, tuple.MaxBytes-100)))
		for range all {
			require.NoError(w, w.s.Put(w.Context(), large, 0))
		}
		found, err := w.s.QueryUpTo(w.Context(), large.Exactly(), all)
		require.NoError(w, err)
		require.Len(w, found, space.MaxReply/tuple.MaxBytes)
		for taken := 0; taken < all; taken += len(found) {
			found, err = w.s.GetUpTo(w.Context(), large.Exactly(), all)
			require.NoError(w, err)
			require.NotEmpty(w, found)
		}
		require.Zero(w, w.queryP(w.s, large.Exactly()))
	}},
	{"the empty tuple is a tuple", func(w *fixture) {
		require.NoError(w, w.s.Put(w.Context(), nil, 0))
		require.NoError(w, w.s.Put(w.Context(), tuple.New(), 0))
		n, err := w.s.Count(w.Context(), tuple.Match())
		require.NoError(w, err)
		require.Equal(w, 2, n)
		for range 2 {
			_, err := w.s.Get(w.Context(), tuple.Match())
			require.NoError(w, err)
		}
	}},
	{"tuples keep their types and values", func(w *fixture) {
		u := tuple.New(nil, true, 1, int32(2), int64(3), float32(4), 5.5, "six", []byte{7}, tuple.New("eight"), tuple.Opaque{Name: "n", JSON: "9"})
		require.NoError(w, w.s.Put(w.Context(), u, 0))
		got, err := w.s.Get(w.Context(), u.Exactly())
		require.NoError(w, err)
		require.Equal(w, u, got)
	}},
	{"what the caller does to its tuples afterwards changes nothing", func(w *fixture) {
		u := tuple.New([]byte("a"), tuple.New("b"))
		require.NoError(w, w.s.Put(w.Context(), u, 0))
		u[0].([]byte)[0], u[1].(tuple.Tuple)[0] = 'x', "x"
		for range 2 {
			got, err := w.s.Query(w.Context(), tuple.Match([]byte("a"), tuple.New("b")))
			require.NoError(w, err)
			got[0].([]byte)[0], got[1] = 'x', nil
		}
	}},
	{"every operation on an unknown space is not found", func(w *fixture) {
		for name, err := range everyOperation(w.Context(), w.repo.Space("nowhere")) {
			require.ErrorIs(w, err, fault.ErrNotFound, name)
			require.ErrorContains(w, err, "nowhere", name)
		}
	}},
	{"every operation whose context has ended does nothing and returns the cause", func(w *fixture) {
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		for name, err := range everyOperation(ctx, w.s) {
			require.ErrorIs(w, err, context.Canceled, name)
		}
		require.Empty(w, w.numbers(w.s))
		cause := errors.New("the wind has turned")
		ctx2, cancel2 := context.WithCancelCause(w.Context())
		cancel2(cause)
		_, err := w.s.Get(ctx2, anything)
		require.ErrorIs(w, err, context.Canceled)
		require.ErrorContains(w, err, cause.Error())
	}},
}

// everyOperation tries each operation once, and returns their errors by name.
func everyOperation(ctx context.Context, s space.Space) map[string]error {
	errs := map[string]error{}
	errs["put"] = s.Put(ctx, item("a", 1), 0)
	errs["putp"] = s.PutP(ctx, item("a", 1), 0)
	_, errs["get"] = s.Get(ctx, anyItem("a"))
	_, _, errs["getp"] = s.GetP(ctx, anyItem("a"))
	_, errs["getall"] = s.GetAll(ctx, anyItem("a"))
	_, errs["getupto"] = s.GetUpTo(ctx, anyItem("a"), 1)
	_, errs["queryupto"] = s.QueryUpTo(ctx, anyItem("a"), 1)
	_, errs["query"] = s.Query(ctx, anyItem("a"))
	_, _, errs["queryp"] = s.QueryP(ctx, anyItem("a"))
	_, errs["queryall"] = s.QueryAll(ctx, anyItem("a"))
	_, errs["count"] = s.Count(ctx, anyItem("a"))
	_, errs["notify"] = s.Notify(ctx, nil)
	return errs
}
