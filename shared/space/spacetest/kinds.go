package spacetest

import (
	"math"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var kinds = []behaviour{
	{"sequential finds the oldest match", func(w *fixture) {
		w.put(w.s, "b", 9)
		w.put(w.s, "a", 1, 2)
		require.Equal(w, 1, w.queryP(w.s, anyItem("a")))
		require.Equal(w, []int{9, 1, 2}, w.numbers(w.s))
	}},
	{"queue tries only the oldest", func(w *fixture) {
		q := w.create("q", space.Options{Kind: space.Queue})
		w.put(q, "a", 1)
		w.put(q, "b", 2, 3)
		require.Zero(w, w.getP(q, anyItem("b")))
		require.Zero(w, w.queryP(q, anyItem("b")))
		require.Equal(w, 1, w.getP(q, anyItem("a")))
		require.Equal(w, 2, w.getP(q, anyItem("b")))
		require.Equal(w, 3, w.getP(q, anyItem("b")))
	}},
	{"stack tries only the newest", func(w *fixture) {
		k := w.create("k", space.Options{Kind: space.Stack})
		w.put(k, "b", 3, 2)
		w.put(k, "a", 1)
		require.Zero(w, w.getP(k, anyItem("b")))
		require.Equal(w, []int{1, 2, 3}, w.numbers(k))
		require.Equal(w, 1, w.getP(k, anyItem("a")))
		require.Equal(w, 2, w.getP(k, anyItem("b")))
		require.Equal(w, 3, w.getP(k, anyItem("b")))
	}},
	{"the forms for all do not stop at the head of a queue", func(w *fixture) {
		q := w.create("q", space.Options{Kind: space.Queue})
		w.put(q, "a", 1)
		w.put(q, "b", 2, 3)
		all, err := q.GetAll(w.Context(), anyItem("b"))
		require.NoError(w, err)
		require.Equal(w, []int{2, 3}, numbersOf(all))
		require.Equal(w, 1, w.getP(q, anything))
	}},
	{"pile finds the newest match", func(w *fixture) {
		p := w.create("p", space.Options{Kind: space.Pile})
		w.put(p, "a", 1, 2)
		w.put(p, "b", 9)
		require.Equal(w, 2, w.getP(p, anyItem("a")))
		require.Equal(w, 1, w.getP(p, anyItem("a")))
	}},
	{"random finds each match equally often", func(w *fixture) {
		r := w.create("r", space.Options{Kind: space.Random})
		w.put(r, "b", 99, 98)
		for n := range 20 {
			w.put(r, "a", n+1)
		}
		for _, p := range []tuple.Template{anyItem("a"), anything} {
			seen := map[int]int{}
			for range 4000 {
				seen[w.queryP(r, p)]++
			}
			for n := range 20 {
				require.InDelta(w, 200, seen[n+1], 100, "%d", n+1) // 7 standard deviations
			}
		}
		for range 20 {
			require.Positive(w, w.getP(r, anyItem("a")))
		}
		require.Zero(w, w.getP(r, anyItem("a")))
	}},
	{"ordered finds the highest, and of equal ones the oldest", func(w *fixture) {
		o := w.create("o", space.Options{Kind: space.Ordered, OrderBy: 1})
		for _, u := range []tuple.Tuple{item("a", 0), item("b", 5), item("c", 5), item("d", math.MinInt64), item("e", math.MaxInt64), item("f", -1)} {
			require.NoError(w, o.Put(w.Context(), u, 0))
		}
		order := ""
		for range 6 {
			u, err := o.Get(w.Context(), anything)
			require.NoError(w, err)
			order += u.Str(0)
		}
		require.Equal(w, "ebcafd", order)
	}},
	{"ordered refuses a tuple that it cannot place", func(w *fixture) {
		o := w.create("o", space.Options{Kind: space.Ordered, OrderBy: 1})
		for _, u := range []tuple.Tuple{tuple.New("a"), tuple.New("a", 1), tuple.New("a", "1")} {
			require.ErrorIs(w, o.Put(w.Context(), u, 0), fault.ErrInvalid)
		}
		ref := w.call(w.repo, "test.put", "o", item("a", 1), int64(0), "", false)[0]
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.replace", tuple.New(ref, tuple.New("a", "1")))
		require.ErrorIs(w, err, fault.ErrInvalid)
	}},
	{"a replaced tuple moves to its new order", func(w *fixture) {
		o := w.create("o", space.Options{Kind: space.Ordered, OrderBy: 1})
		ref := w.call(w.repo, "test.put", "o", item("a", 1), int64(0), "", false)[0]
		w.put(o, "b", 5, 3)
		w.call(w.repo, "test.replace", ref, item("a", 4))
		require.Equal(w, []int{5, 4, 3}, w.numbers(o))
	}},
	{"a held tuple comes back to its old place, or to a new one", func(w *fixture) {
		for kind, want := range map[space.Kind][2][]int{
			space.Sequential: {{1, 2, 3}, {2, 3, 1}}, space.Queue: {{1, 2, 3}, {2, 3, 1}},
			space.Stack: {{3, 2, 1}, {2, 1, 3}}, space.Pile: {{3, 2, 1}, {2, 1, 3}},
		} {
			s := w.create(string(kind), space.Options{Kind: kind})
			w.put(s, "a", 1, 2, 3)
			ref := w.call(w.repo, "test.hold", string(kind), "a", int64(0), "", false)[0]
			w.call(w.repo, "test.back", ref, false)
			require.Equal(w, want[0], w.numbers(s), kind)
			ref = w.call(w.repo, "test.hold", string(kind), "a", int64(0), "", false)[0]
			w.call(w.repo, "test.back", ref, true)
			if kind == space.Stack || kind == space.Pile { // its newest is where it was
				want[1] = []int{3, 2, 1}
			}
			require.Equal(w, want[1], w.numbers(s), kind)
		}
	}},
}

var options = []behaviour{
	{"a full space that blocks makes put wait and putp fail", func(w *fixture) {
		b := w.create("b", space.Options{Capacity: 2})
		w.put(b, "a", 1, 2)
		require.ErrorIs(w, b.PutP(w.Context(), item("a", 3), 0), fault.ErrOverloaded)
		p := w.begin(func() (tuple.Tuple, error) { return nil, b.Put(w.Context(), item("a", 3), 0) })
		p.waits()
		require.Equal(w, 1, w.getP(b, anything))
		p.returns()
		require.Equal(w, []int{2, 3}, w.numbers(b))
	}},
	{"a full space that drops loses its oldest tuple", func(w *fixture) {
		for _, kind := range []space.Kind{space.Sequential, space.Pile, space.Ordered, space.Random, space.Queue, space.Stack} {
			d := w.create(string(kind), space.Options{Kind: kind, OrderBy: 1, Capacity: 2, Overflow: space.DropOldest})
			w.put(d, "a", 3, 2, 1)
			require.ElementsMatch(w, []int{2, 1}, w.numbers(d), kind)
		}
	}},
	{"a held tuple counts towards capacity and is not dropped", func(w *fixture) {
		d := w.create("d", space.Options{Capacity: 2, Overflow: space.DropOldest})
		w.put(d, "a", 1)
		ref := w.call(w.repo, "test.hold", "d", "a", int64(0), "", false)[0]
		w.put(d, "a", 2, 3)
		require.Equal(w, []int{3}, w.numbers(d))
		w.call(w.repo, "test.hold", "d", "a", int64(0), "", false)
		require.ErrorIs(w, d.Put(w.Context(), item("a", 4), 0), fault.ErrOverloaded)
		w.call(w.repo, "test.back", ref, false)
		w.put(d, "a", 5)
		require.Equal(w, []int{5}, w.numbers(d))
	}},
	{"a procedure does not wait for capacity", func(w *fixture) {
		w.put(w.create("b", space.Options{Capacity: 1}), "a", 1)
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.put", tuple.New("b", item("a", 2), int64(0), "", false))
		require.ErrorIs(w, err, fault.ErrOverloaded)
	}},
	{"a volatile space works as any other while the engine runs", func(w *fixture) {
		v := w.create("v", space.Options{Volatile: true})
		require.NoError(w, v.Put(w.Context(), item("a", 1), time.Second))
		w.put(v, "a", 2)
		w.call(w.repo, "test.hold", "v", "a", int64(time.Minute), "", false)
		time.Sleep(time.Second)
		require.Equal(w, []int{2}, w.numbers(v))
	}},
}
