package spacetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var procedures = []behaviour{
	{"an unknown procedure is not found", func(w *fixture) {
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.unknown", nil)
		require.ErrorIs(w, err, fault.ErrNotFound)
		require.ErrorContains(w, err, "test.unknown")
	}},
	{"a procedure that fails or panics has done nothing", func(w *fixture) {
		w.put(w.s, "a", 1, 2, 3, 4, 5, 6, 7, 8)
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.fail", tuple.New("s"))
		require.ErrorIs(w, err, fault.ErrStaleToken)
		_, err = w.repo.Call(w.Context(), space.OpID{}, "test.panic", tuple.New("s"))
		require.ErrorContains(w, err, "panicked")
		require.NotContains(w, err.Error(), "goroutine")
		require.Equal(w, []int{1, 2, 3, 4, 5, 6, 7, 8}, w.numbers(w.s))
		require.Equal(w, 8, w.count(w.s, "a"))
		require.Empty(w, w.call(w.repo, "test.held", "s", "a"))
		w.receivesNothing(w.repo)
		time.Sleep(time.Minute)
		require.NoError(w, w.repo.Close(w.Context()))
		require.Equal(w, 8, w.count(w.session("other", 0).Space("s"), "a"))
	}},
	{"a procedure within a procedure that fails has done nothing, and the outer goes on", func(w *fixture) {
		w.put(w.s, "a", 1, 2, 3, 4)
		w.call(w.repo, "test.nest", "s")
		require.Equal(w, []int{1, 2, 3, 4, 1, 2}, w.numbers(w.s))
		require.Equal(w, 2, w.count(w.s, "outer"))
		w.receivesNothing(w.repo)
	}},
	{"the depth of procedure calls is bounded", func(w *fixture) {
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.loop", nil)
		require.ErrorIs(w, err, fault.ErrTooLarge)
	}},
	{"a malformed reply or message is an error, and nothing has happened", func(w *fixture) {
		for _, procedure := range []string{"test.reply", "test.babble"} {
			_, err := w.repo.Call(w.Context(), space.OpID{}, procedure, nil)
			require.ErrorContains(w, err, "uint8")
		}
		w.receivesNothing(w.repo)
	}},
	{"a procedure that waits runs again when a tuple that it waits for is put, until it finds one", func(w *fixture) {
		call := w.begin(func() (tuple.Tuple, error) { return w.call(w.repo, "test.claim", "s", "a", int64(3)), nil })
		for n := range 3 {
			call.waits()
			w.put(w.s, "a", n+1)
		}
		require.Equal(w, 3, call.returns())
		require.Equal(w, []int{1, 2}, w.numbers(w.s))
		require.Zero(w, w.count(w.s, "vanity"), "a run that waited has done nothing")
	}},
	{"procedures and gets that wait are served by age", func(w *fixture) {
		var calls []*pending
		for n := range 6 {
			if n%2 == 0 {
				calls = append(calls, w.begin(func() (tuple.Tuple, error) { return w.call(w.repo, "test.claim", "s", "a", int64(0)), nil }))
			} else {
				calls = append(calls, w.get(w.s, anything))
			}
		}
		for n, c := range calls {
			c.waits()
			w.put(w.s, "a", n+1)
			require.Equal(w, n+1, c.returns())
		}
	}},
	{"a procedure that does not take the tuple that it was offered leaves it to the next waiter", func(w *fixture) {
		picky := w.begin(func() (tuple.Tuple, error) { return w.call(w.repo, "test.claim", "s", "a", int64(5)), nil })
		get := w.get(w.s, anyItem("a"))
		w.put(w.s, "a", 1)
		require.Equal(w, 1, get.returns())
		w.put(w.s, "a", 5)
		require.Equal(w, 5, picky.returns())
	}},
	{"a procedure may wait for tuples of several spaces", func(w *fixture) {
		other := w.create("other", space.Options{})
		for range 2 {
			call := w.begin(func() (tuple.Tuple, error) { return w.call(w.repo, "test.first", "a", "s", "other"), nil })
			call.waits()
			w.put(other, "a", 7)
			require.Equal(w, 7, call.returns())
		}
		w.put(w.s, "a", 1)
		require.Equal(w, []int{1}, w.numbers(w.s))
	}},
	{"a tuple that a served procedure puts serves the next waiter", func(w *fixture) {
		w.create("t", space.Options{})
		w.create("u", space.Options{})
		var calls []*pending
		for _, hop := range [][2]string{{"t", "u"}, {"s", "t"}} {
			calls = append(calls, w.begin(func() (tuple.Tuple, error) { return w.call(w.repo, "test.move", "a", hop[0], hop[1]), nil }))
		}
		get := w.get(w.repo.Space("u"), anyItem("a"))
		w.put(w.s, "a", 1)
		require.Equal(w, 1, calls[0].returns())
		require.Equal(w, 1, calls[1].returns())
		require.Equal(w, 1, get.returns())
	}},
	{"a procedure that is cancelled while it waits does nothing", func(w *fixture) {
		ctx, cancel := context.WithCancel(w.Context())
		call := w.begin(func() (tuple.Tuple, error) {
			return w.repo.Call(ctx, space.OpID{}, "test.claim", tuple.New("s", "a", int64(0)))
		})
		cancel()
		require.ErrorIs(w, call.error(), context.Canceled)
		w.put(w.s, "a", 1)
		require.Equal(w, []int{1}, w.numbers(w.s))
	}},
	{"waiting for a space that does not exist is an error", func(w *fixture) {
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.nowhere", nil)
		require.ErrorIs(w, err, fault.ErrNotFound)
	}},
	{"tokens only grow", func(w *fixture) {
		last := int64(0)
		for range 10 {
			token := w.call(w.repo, "test.token").Int64(1)
			require.Greater(w, token, last)
			last = token
			_, _ = w.repo.Call(w.Context(), space.OpID{}, "test.fail", tuple.New("s"))
		}
	}},
	{"messages arrive in order, also those sent before a receive", func(w *fixture) {
		other := w.session("other", 0)
		for n := range 3 {
			w.call(other, "test.tell", "test-1", int64(n+1))
		}
		for n := range 3 {
			u, err := w.repo.Receive(w.Context())
			require.NoError(w, err)
			require.Equal(w, item("told", n+1), u)
		}
		p := w.begin(func() (tuple.Tuple, error) { return w.repo.Receive(w.Context()) })
		p.waits()
		w.call(other, "test.tell", "nobody", int64(9))
		p.waits()
		w.call(other, "test.tell", "test-1", int64(4))
		require.Equal(w, 4, p.returns())
	}},
	{"of too many messages the oldest are lost", func(w *fixture) {
		for n := range 1000 {
			w.call(w.repo, "test.tell", "test-1", int64(n))
		}
		u, err := w.repo.Receive(w.Context())
		require.NoError(w, err)
		require.Greater(w, u.Int64(1), int64(500))
	}},
}

// receivesNothing requires that a session has no message: a receive waits until its context
// ends.
func (w *fixture) receivesNothing(r space.Repository) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Millisecond)
	defer cancel()
	_, err := r.Receive(ctx)
	require.ErrorIs(w, err, context.DeadlineExceeded)
}
