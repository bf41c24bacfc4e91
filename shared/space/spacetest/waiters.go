package spacetest

import (
	"context"
	"fmt"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var waiters = []behaviour{
	{"get and query wait for a match, and only for a match", func(w *fixture) {
		get := w.get(w.s, tuple.Match("a", int64(2)))
		query := w.begin(func() (tuple.Tuple, error) { return w.s.Query(w.Context(), anyItem("a")) })
		w.put(w.s, "b", 2)
		query.waits()
		w.put(w.s, "a", 1)
		require.Equal(w, 1, query.returns())
		get.waits()
		w.put(w.s, "a", 2)
		require.Equal(w, 2, get.returns())
		require.Equal(w, []int{2, 1}, w.numbers(w.s))
	}},
	{"of the gets that match a tuple, the one that waited longest takes it, with any template", func(w *fixture) {
		templates := []tuple.Template{anything, anyItem("a"), tuple.Match("a", int64(1)), tuple.Match(tuple.AnyString, int64(1)), anyItem("a")}
		var gets []*pending
		for _, p := range templates {
			gets = append(gets, w.get(w.s, p))
		}
		for i := range gets {
			w.put(w.s, "a", 1)
			for j, g := range gets {
				if j <= i {
					require.Equal(w, 1, g.returns())
				} else {
					g.waits()
				}
			}
		}
		require.Empty(w, w.numbers(w.s))
	}},
	{"all readers are served before the taker", func(w *fixture) {
		get := w.get(w.s, anyItem("a"))
		var queries []*pending
		for range 10 {
			queries = append(queries, w.begin(func() (tuple.Tuple, error) { return w.s.Query(w.Context(), anyItem("a")) }))
		}
		w.put(w.s, "a", 7)
		for _, q := range queries {
			require.Equal(w, 7, q.returns())
		}
		require.Equal(w, 7, get.returns())
	}},
	{"of a thousand blocked gets one put wakes exactly one", func(w *fixture) {
		got := make(chan tuple.Tuple, 1000)
		for range 1000 {
			go func() {
				if t, err := w.s.Get(w.Context(), anyItem("a")); err == nil {
					got <- t
				}
			}()
		}
		synctest.Wait()
		w.put(w.s, "a", 1)
		synctest.Wait()
		require.Len(w, got, 1)
		for n := range 999 {
			w.put(w.s, "a", n)
		}
		synctest.Wait()
		require.Len(w, got, 1000)
		require.Empty(w, w.numbers(w.s))
	}},
	{"a cancelled get never takes", func(w *fixture) {
		ctx, cancel := context.WithCancel(w.Context())
		first := w.begin(func() (tuple.Tuple, error) { return w.s.Get(ctx, anyItem("a")) })
		second := w.get(w.s, anyItem("a"))
		cancel()
		require.ErrorIs(w, first.error(), context.Canceled)
		w.put(w.s, "a", 1, 2)
		require.Equal(w, 1, second.returns())
		require.Equal(w, []int{2}, w.numbers(w.s))
	}},
	{"a get whose deadline passes returns that error", func(w *fixture) {
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		p := w.begin(func() (tuple.Tuple, error) { return w.s.Get(ctx, anyItem("a")) })
		time.Sleep(time.Minute)
		require.ErrorIs(w, p.error(), context.DeadlineExceeded)
	}},
	{"gets that are cancelled while tuples come lose none", func(w *fixture) {
		const rounds = 200
		got := make(chan tuple.Tuple, rounds)
		for range rounds {
			ctx, cancel := context.WithCancel(w.Context())
			go func() {
				if t, err := w.s.Get(ctx, anyItem("a")); err == nil {
					got <- t
				}
			}()
			go cancel()
			go func() { assert.NoError(w, w.s.Put(w.Context(), item("a", 1), 0)) }()
		}
		synctest.Wait()
		require.Equal(w, rounds, len(got)+w.count(w.s, "a"))
	}},
	{"the new head of a queue or a stack wakes its waiters", func(w *fixture) {
		for _, kind := range []space.Kind{space.Queue, space.Stack} {
			w.checkHeadChanges(w.create(string(kind), space.Options{Kind: kind}), kind)
		}
	}},
	{"a waiter that a new head wakes wakes the next", func(w *fixture) {
		q := w.create("q", space.Options{Kind: space.Queue})
		w.put(q, "x", 1)
		for n := range 5 {
			w.put(q, fmt.Sprint(n), n+1)
		}
		var gets []*pending
		for n := range 5 {
			gets = append(gets, w.get(q, anyItem(fmt.Sprint(4-n))))
		}
		require.Equal(w, 1, w.getP(q, anyItem("x")))
		for n, g := range gets {
			require.Equal(w, 5-n, g.returns())
		}
	}},
	{"a tuple that becomes visible wakes as a put does", func(w *fixture) {
		ref := w.call(w.repo, "test.put", "s", item("a", 1), int64(0), "", false)[0]
		w.call(w.repo, "test.hold", "s", "a", int64(0), "", false)
		get := w.get(w.s, anyItem("a"))
		get.waits()
		w.call(w.repo, "test.back", ref, false)
		require.Equal(w, 1, get.returns())
		ref = w.call(w.repo, "test.put", "s", item("b", 2), int64(0), "", false)[0]
		get = w.get(w.s, anyItem("c"))
		w.call(w.repo, "test.replace", ref, item("c", 3))
		require.Equal(w, 3, get.returns())
	}},
}

// checkHeadChanges removes the head of a queue or stack in every possible way. A tuple of another
// name is behind the head; each time the get that waits for it must take it.
func (w *fixture) checkHeadChanges(s space.Space, kind space.Kind) {
	for name, goes := range map[string]func(ref any){
		"got":  func(any) { require.Equal(w, 1, w.getP(s, anyItem("head"))) },
		"all":  func(any) { _, err := s.GetAll(w.Context(), anyItem("head")); require.NoError(w, err) },
		"take": func(ref any) { w.call(w.repo, "test.take", ref) },
		"held": func(ref any) {
			w.call(w.repo, "test.hold", s.Name(), "head", int64(0), "", false)
			defer w.call(w.repo, "test.done", ref)
			require.Empty(w, w.numbers(s))
		},
		"ttl": func(ref any) { w.call(w.repo, "test.extend", ref, int64(1)); time.Sleep(time.Nanosecond) },
	} {
		if kind == space.Stack {
			w.put(s, "behind", 2)
		}
		ref := w.call(w.repo, "test.put", s.Name(), item("head", 1), int64(0), "", false)[0]
		if kind == space.Queue {
			w.put(s, "behind", 2)
		}
		get := w.get(s, anyItem("behind"))
		get.waits()
		goes(ref)
		require.Equal(w, 2, get.returns(), name)
	}
}

var blockedPuts = []behaviour{
	{"puts that wait for capacity succeed in order", func(w *fixture) {
		b := w.create("b", space.Options{Capacity: 2})
		w.put(b, "a", 1, 2)
		for n := range 5 {
			w.begin(func() (tuple.Tuple, error) { return nil, b.Put(w.Context(), item("a", n+3), 0) }).waits()
		}
		for n := range 7 {
			require.Equal(w, n+1, w.getP(b, anything))
		}
		synctest.Wait()
		require.Empty(w, w.numbers(b))
	}},
	{"a put that is cancelled while it waits puts nothing", func(w *fixture) {
		b := w.create("b", space.Options{Capacity: 1})
		w.put(b, "a", 1)
		ctx, cancel := context.WithCancel(w.Context())
		p := w.begin(func() (tuple.Tuple, error) { return nil, b.Put(ctx, item("a", 2), 0) })
		q := w.begin(func() (tuple.Tuple, error) { return nil, b.Put(w.Context(), item("a", 3), 0) })
		cancel()
		require.ErrorIs(w, p.error(), context.Canceled)
		require.Equal(w, 1, w.getP(b, anything))
		q.returns()
		require.Equal(w, []int{3}, w.numbers(b))
	}},
	{"done, a TTL and a get for all free capacity", func(w *fixture) {
		b := w.create("b", space.Options{Capacity: 2})
		ref := w.call(w.repo, "test.put", "b", item("a", 1), int64(0), "", false)[0]
		w.call(w.repo, "test.hold", "b", "a", int64(0), "", false)
		require.NoError(w, b.Put(w.Context(), item("a", 2), time.Second))
		var puts []*pending
		for n := range 4 {
			puts = append(puts, w.begin(func() (tuple.Tuple, error) { return nil, b.Put(w.Context(), item("a", n+3), 0) }))
		}
		w.call(w.repo, "test.done", ref)
		puts[0].returns()
		puts[1].waits()
		time.Sleep(time.Second)
		puts[1].returns()
		puts[2].waits()
		all, err := b.GetAll(w.Context(), anything)
		require.NoError(w, err)
		require.Equal(w, []int{3, 4}, numbersOf(all))
		puts[3].returns()
		require.Equal(w, []int{5, 6}, w.numbers(b))
	}},
	{"a waiting put serves a waiting get once capacity is free", func(w *fixture) {
		b := w.create("b", space.Options{Capacity: 1})
		w.put(b, "a", 1)
		put := w.begin(func() (tuple.Tuple, error) { return nil, b.Put(w.Context(), item("b", 2), 0) })
		get := w.get(b, anyItem("b"))
		get.waits()
		require.Equal(w, 1, w.getP(b, anyItem("a")))
		put.returns()
		require.Equal(w, 2, get.returns())
	}},
	{"the TTL of a put that waits begins when the tuple is put", func(w *fixture) {
		b := w.create("b", space.Options{Capacity: 1})
		w.put(b, "a", 1)
		put := w.begin(func() (tuple.Tuple, error) { return nil, b.Put(w.Context(), item("a", 2), time.Second) })
		time.Sleep(time.Minute)
		require.Equal(w, 1, w.getP(b, anything))
		put.returns()
		time.Sleep(time.Second - 1)
		require.Equal(w, []int{2}, w.numbers(b))
		time.Sleep(time.Nanosecond)
		require.Empty(w, w.numbers(b))
	}},
}
