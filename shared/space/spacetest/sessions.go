package spacetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var sessions = []behaviour{
	{"a session needs a name that is not too long, and no negative TTL", func(w *fixture) {
		for _, id := range []string{"", strings.Repeat("x", space.MaxName+1)} {
			_, err := w.open(w.Context(), id, 0)
			require.ErrorIs(w, err, fault.ErrInvalid)
		}
		_, err := w.open(w.Context(), "x", -1)
		require.ErrorIs(w, err, fault.ErrInvalid)
	}},
	{"a name is refused while its session lives, and free afterwards", func(w *fixture) {
		_, err := w.open(w.Context(), "test-1", 0)
		require.ErrorIs(w, err, fault.ErrConflict)
		require.NoError(w, w.repo.Close(w.Context()))
		w.session("test-1", time.Second)
		time.Sleep(time.Second)
		w.session("test-1", 0)
	}},
	{"a session is lost exactly when it gave no sign of life for its TTL", func(w *fixture) {
		r := w.session("other", time.Minute)
		time.Sleep(time.Minute - 1)
		require.Equal(w, tuple.New(true), w.call(w.repo, "test.alive", "other"))
		time.Sleep(time.Nanosecond)
		require.Equal(w, tuple.New(false), w.call(w.repo, "test.alive", "other"))
		_, _, err := r.Space("s").GetP(w.Context(), anything)
		require.ErrorIs(w, err, fault.ErrClosed)
		require.ErrorContains(w, err, "lost")
	}},
	{"a call at the moment when its session is lost is refused", func(w *fixture) {
		r := w.session("other", time.Minute)
		time.Sleep(time.Minute)
		_, err := r.Call(w.Context(), space.OpID{}, "test.beat", nil)
		require.ErrorIs(w, err, fault.ErrClosed)
	}},
	{"only a sign of life keeps a session", func(w *fixture) {
		r := w.session("other", time.Minute)
		for range 10 {
			time.Sleep(time.Minute - 1)
			w.call(r, "test.beat")
		}
		w.put(r.Space("s"), "a", 1)
		time.Sleep(time.Minute - 1)
		w.put(r.Space("s"), "a", 1)
		time.Sleep(time.Nanosecond)
		require.Equal(w, tuple.New(false), w.call(w.repo, "test.alive", "other"))
	}},
	{"a procedure that runs again does not count as a sign of life", func(w *fixture) {
		r := w.session("other", time.Minute)
		call := w.begin(func() (tuple.Tuple, error) {
			return r.Call(w.Context(), space.OpID{}, "test.claim", tuple.New("s", "a", int64(5)))
		})
		time.Sleep(time.Minute - 1)
		w.put(w.s, "a", 1)
		call.waits()
		time.Sleep(time.Nanosecond)
		require.ErrorIs(w, call.error(), fault.ErrClosed)
	}},
	{"ephemeral tuples go with their session, also when another one holds them", func(w *fixture) {
		for n, end := range []func(space.Repository){
			func(r space.Repository) { require.NoError(w, r.Close(w.Context())) },
			func(space.Repository) { time.Sleep(time.Minute) },
		} {
			r := w.session(fmt.Sprint("other-", n), time.Minute)
			for _, ephemeral := range []bool{false, true, true} {
				w.call(r, "test.put", "s", item("a", n), int64(0), "test.on.leave", ephemeral)
			}
			kept := w.call(w.repo, "test.hold", "s", "a", int64(0), "", false)[0]
			ref := w.call(w.repo, "test.hold", "s", "a", int64(0), "", false)[0]
			end(r)
			require.Zero(w, w.count(w.s, "a"))
			require.Equal(w, tuple.New(false, false, "", tuple.New()), w.call(w.repo, "test.entry", ref))
			require.Equal(w, tuple.New(int64(n)), w.call(w.repo, "test.held", "s", "a"))
			w.call(w.repo, "test.done", kept)
		}
	}},
	{"an ephemeral tuple that was replaced is ephemeral still", func(w *fixture) {
		r := w.session("other", 0)
		ref := w.call(r, "test.put", "s", item("a", 1), int64(0), "", true)[0]
		w.call(w.repo, "test.replace", ref, item("b", 2))
		require.Equal(w, []int{2}, w.numbers(w.s))
		require.NoError(w, r.Close(w.Context()))
		require.Empty(w, w.numbers(w.s))
	}},
	{"the end of a session ends its calls", func(w *fixture) {
		for n, end := range []func(space.Repository){
			func(r space.Repository) { require.NoError(w, r.Close(w.Context())) },
			func(space.Repository) { time.Sleep(time.Minute) },
		} {
			r := w.session(fmt.Sprint("other-", n), time.Minute)
			sub, err := r.Space("s").Notify(w.Context(), nil)
			require.NoError(w, err)
			calls := []*pending{
				w.get(r.Space("s"), anyItem("a")),
				w.begin(func() (tuple.Tuple, error) { return r.Receive(w.Context()) }),
				w.begin(func() (tuple.Tuple, error) { _, _, err := sub.Next(w.Context()); return nil, err }),
				w.begin(func() (tuple.Tuple, error) {
					return r.Call(w.Context(), space.OpID{}, "test.claim", tuple.New("s", "a", int64(0)))
				}),
			}
			end(r)
			for _, c := range calls {
				require.ErrorIs(w, c.error(), fault.ErrClosed)
			}
			w.put(w.s, "a", 1)
			require.Equal(w, 1, w.getP(w.s, anyItem("a")))
		}
	}},
	{"a closed repository stays closed, and closing it again does nothing", func(w *fixture) {
		require.NoError(w, w.repo.Close(w.Context()))
		for name, err := range everyOperation(w.Context(), w.s) {
			require.ErrorIs(w, err, fault.ErrClosed, name)
		}
		_, err := w.repo.Receive(w.Context())
		require.ErrorIs(w, err, fault.ErrClosed)
		again := w.session("test-1", 0)
		require.NoError(w, w.repo.Close(w.Context()))
		w.put(again.Space("s"), "a", 1)
	}},
}
