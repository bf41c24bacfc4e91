package spacetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var ttls = []behaviour{
	{"a tuple is removed exactly when its TTL ends", func(w *fixture) {
		require.NoError(w, w.s.Put(w.Context(), item("a", 1), time.Hour))
		w.put(w.s, "b", 2)
		time.Sleep(time.Hour - 1)
		require.Equal(w, 1, w.queryP(w.s, anyItem("a")))
		time.Sleep(time.Nanosecond)
		require.Zero(w, w.queryP(w.s, anyItem("a")))
		require.Equal(w, []int{2}, w.numbers(w.s))
	}},
	{"a negative TTL is refused", func(w *fixture) {
		require.ErrorIs(w, w.s.Put(w.Context(), item("a", 1), -1), fault.ErrInvalid)
		ref := w.call(w.repo, "test.put", "s", item("a", 1), int64(0), "", false)[0]
		for _, procedure := range []string{"test.extend", "test.renew"} {
			_, err := w.repo.Call(w.Context(), space.OpID{}, procedure, tuple.New(ref, int64(-1), ""))
			require.ErrorIs(w, err, fault.ErrInvalid)
		}
	}},
	{"extending starts the TTL again, shorter or longer; with zero the tuple stays", func(w *fixture) {
		refs := make([]any, 3)
		for n, ttl := range []time.Duration{time.Second, time.Hour, 0} {
			refs[n] = w.call(w.repo, "test.put", "s", item("a", n+1), int64(time.Minute), "", false)[0]
			w.call(w.repo, "test.extend", refs[n], int64(ttl))
		}
		time.Sleep(time.Second)
		require.Equal(w, []int{2, 3}, w.numbers(w.s))
		time.Sleep(time.Hour)
		require.Equal(w, []int{3}, w.numbers(w.s))
	}},
	{"an expiry procedure gets the cause, and the tuple is removed unless the procedure keeps it", func(w *fixture) {
		for procedure, stays := range map[string]bool{
			"test.on.leave": false, "test.on.replace": false, "test.on.fail": false, "test.on.panic": false,
			"test.unknown": false, "test.on.extend": true, "test.on.rehold": true,
		} {
			ref := w.call(w.repo, "test.put", "s", item(procedure, 1), int64(time.Second), procedure, false)[0]
			time.Sleep(time.Second)
			w.requireLogged(procedure, space.Due, ref, "")
			require.Equal(w, stays, w.call(w.repo, "test.entry", ref)[0], procedure)
			if stays {
				w.call(w.repo, "test.take", ref)
			}
		}
	}},
	{"a tuple that its expiry extends repeatedly stays until it is not extended", func(w *fixture) {
		ref := w.call(w.repo, "test.put", "s", item("a", 1), int64(time.Second), "test.on.extend", false)[0]
		for range 5 {
			time.Sleep(time.Second)
			w.requireLogged("test.on.extend", space.Due, ref, "")
		}
		require.Equal(w, []int{1}, w.numbers(w.s))
	}},
	{"of TTLs that end at the same time the older tuple's ends first", func(w *fixture) {
		var refs []any
		for n := range 20 {
			refs = append(refs, w.call(w.repo, "test.put", "s", item("a", n), int64(time.Second), "test.on.leave", false)[0])
		}
		time.Sleep(time.Second)
		for _, ref := range refs {
			w.requireLogged("test.on.leave", space.Due, ref, "")
		}
	}},
	{"a failed transaction leaves timers as they were", func(w *fixture) {
		for n := range 4 {
			require.NoError(w, w.s.Put(w.Context(), item("a", n+1), time.Minute))
		}
		for range 100 {
			_, err := w.repo.Call(w.Context(), space.OpID{}, "test.fail", tuple.New("s"))
			require.ErrorIs(w, err, fault.ErrStaleToken)
		}
		time.Sleep(time.Minute - 1)
		require.Equal(w, []int{1, 2, 3, 4}, w.numbers(w.s))
		time.Sleep(time.Nanosecond)
		require.Empty(w, w.numbers(w.s))
	}},
}

// requireLogged takes the entry that an expiry procedure logged, and requires that it is as given. It
// requires that there is none for the empty procedure, an unknown one and one that fails.
func (w *fixture) requireLogged(procedure string, cause space.Cause, ref any, holder string) {
	w.Helper()
	t, ok, err := w.repo.Space("log").GetP(w.Context(), tuple.Match(tuple.AnyString, tuple.AnyInt64, tuple.AnyString))
	require.NoError(w, err)
	if procedure == "" || procedure == "test.unknown" || procedure == "test.on.fail" || procedure == "test.on.panic" {
		require.False(w, ok, "%s logged %s", procedure, t)
		return
	}
	require.Equal(w, tuple.New(string(cause), ref, holder), t, procedure)
}

var holds = []behaviour{
	{"a held tuple is hidden until it is back or done", func(w *fixture) {
		w.put(w.s, "a", 1, 2)
		ref := w.call(w.repo, "test.hold", "s", "a", int64(0), "", false)[0]
		require.Equal(w, []int{2}, w.numbers(w.s))
		require.Equal(w, 1, w.count(w.s, "a"))
		require.Zero(w, w.getP(w.s, tuple.Match("a", int64(1))))
		require.Equal(w, tuple.New(true, true, "test-1", item("a", 1)), w.call(w.repo, "test.entry", ref))
		require.Equal(w, tuple.New(int64(1)), w.call(w.repo, "test.held", "s", "a"))
		require.Equal(w, tuple.New(int64(2)), w.call(w.repo, "test.scan", "s", "a"))
		w.call(w.repo, "test.back", ref, false)
		require.Equal(w, []int{1, 2}, w.numbers(w.s))
		ref = w.call(w.repo, "test.hold", "s", "a", int64(0), "", false)[0]
		w.call(w.repo, "test.done", ref)
		require.Equal(w, tuple.New(false, false, "", tuple.New()), w.call(w.repo, "test.entry", ref))
		require.Equal(w, []int{2}, w.numbers(w.s))
	}},
	{"back and done of a tuple that is not held is a conflict, and of one that is gone not found", func(w *fixture) {
		ref := w.call(w.repo, "test.put", "s", item("a", 1), int64(0), "", false)[0]
		for _, procedure := range []string{"test.back", "test.done"} {
			_, err := w.repo.Call(w.Context(), space.OpID{}, procedure, tuple.New(ref, false))
			require.ErrorIs(w, err, fault.ErrConflict)
		}
		w.call(w.repo, "test.take", ref)
		for _, procedure := range []string{"test.back", "test.done", "test.take", "test.extend", "test.renew"} {
			_, err := w.repo.Call(w.Context(), space.OpID{}, procedure, tuple.New(ref, int64(1), ""))
			require.ErrorIs(w, err, fault.ErrNotFound)
		}
	}},
	{"a hold ends at its deadline, and the tuple is back at its old place", func(w *fixture) {
		w.put(w.s, "a", 1, 2)
		w.call(w.repo, "test.hold", "s", "a", int64(time.Minute), "", false)
		time.Sleep(time.Minute - 1)
		require.Equal(w, []int{2}, w.numbers(w.s))
		time.Sleep(time.Nanosecond)
		require.Equal(w, []int{1, 2}, w.numbers(w.s))
	}},
	{"holding a held tuple again changes its deadline, its expiry and its holder", func(w *fixture) {
		w.put(w.s, "a", 1)
		ref := w.call(w.repo, "test.hold", "s", "a", int64(time.Minute), "", false)[0]
		other := w.session("other", 0)
		w.call(other, "test.renew", ref, int64(time.Hour), "test.on.leave")
		require.NoError(w, w.repo.Close(w.Context()))
		time.Sleep(time.Hour - 1)
		w.repo = other
		require.Equal(w, tuple.New(true, true, "other", item("a", 1)), w.call(other, "test.entry", ref))
		time.Sleep(time.Nanosecond)
		w.requireLogged("test.on.leave", space.Due, ref, "other")
		require.Equal(w, []int{1}, w.numbers(other.Space("s")))
	}},
	{"a hold without a session outlives the session that made it", func(w *fixture) {
		w.put(w.s, "a", 1)
		other := w.session("other", 0)
		ref := w.call(other, "test.hold", "s", "a", int64(time.Minute), "", true)[0]
		require.NoError(w, other.Close(w.Context()))
		require.Equal(w, tuple.New(true, true, "", item("a", 1)), w.call(w.repo, "test.entry", ref))
		time.Sleep(time.Minute)
		require.Equal(w, []int{1}, w.numbers(w.s))
	}},
	{"a held tuple can be replaced, and comes back changed", func(w *fixture) {
		w.put(w.s, "a", 1, 2)
		ref := w.call(w.repo, "test.hold", "s", "a", int64(time.Minute), "", false)[0]
		w.call(w.repo, "test.replace", ref, item("b", 3))
		require.Equal(w, []int{2}, w.numbers(w.s))
		time.Sleep(time.Minute)
		require.Equal(w, []int{3, 2}, w.numbers(w.s))
	}},
	{"a TTL continues during a hold, and ends when the tuple comes back", func(w *fixture) {
		ref := w.call(w.repo, "test.put", "s", item("a", 1), int64(time.Minute), "test.on.leave", false)[0]
		w.call(w.repo, "test.hold", "s", "a", int64(time.Hour), "", false)
		time.Sleep(time.Hour - 1)
		w.requireLogged("", space.Due, ref, "")
		time.Sleep(time.Nanosecond)
		w.requireLogged("test.on.leave", space.Due, ref, "")
		require.Empty(w, w.numbers(w.s))
		ref = w.call(w.repo, "test.put", "s", item("a", 2), int64(time.Minute), "", false)[0]
		w.call(w.repo, "test.hold", "s", "a", int64(0), "", false)
		time.Sleep(time.Minute - 1)
		w.call(w.repo, "test.back", ref, true)
		require.Equal(w, []int{2}, w.numbers(w.s))
		time.Sleep(time.Nanosecond)
		require.Empty(w, w.numbers(w.s))
	}},
}

var expiries = []behaviour{
	{"only the engine ends a TTL or a hold, also when a session brings it about", func(w *fixture) {
		ref := w.call(w.repo, "test.put", "s", item("a", 1), int64(time.Second), "test.on.leave", false)[0]
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.on.leave", space.Expired{Ref: ref.(int64), Cause: space.Due}.Args())
		require.ErrorIs(w, err, fault.ErrInvalid)
		w.call(w.repo, "test.hold", "s", "a", int64(0), "", false)
		time.Sleep(time.Second)
		w.call(w.repo, "test.back", ref, false)
		w.requireLogged("test.on.leave", space.Due, ref, "")
		require.Empty(w, w.numbers(w.s))
	}},
	{"the expiry of a hold gets the cause, and decides what happens to the tuple", func(w *fixture) {
		for procedure, want := range map[string][]int{
			"test.on.leave": {1, 2}, "test.on.done": {2}, "test.on.new": {2, 1}, "test.on.replace": {1, 2},
			"test.on.fail": {1, 2}, "test.on.panic": {1, 2}, "test.on.rehold": {2}, "test.unknown": {1, 2},
		} {
			for _, cause := range []space.Cause{space.Due, space.Lost, space.Closed} {
				s := w.create(procedure+string(cause), space.Options{})
				w.put(s, "a", 1, 2)
				ref, holder := w.endHold(s.Name(), procedure, cause)
				w.requireLogged(procedure, cause, ref, holder)
				require.Equal(w, want, w.numbers(s), "%s %s", procedure, cause)
			}
		}
	}},
	{"a tuple that its expiry holds again comes back later", func(w *fixture) {
		w.put(w.s, "a", 1)
		ref := w.call(w.repo, "test.hold", "s", "a", int64(time.Minute), "test.on.rehold", false)[0]
		time.Sleep(time.Minute)
		w.requireLogged("test.on.rehold", space.Due, ref, "test-1")
		time.Sleep(time.Second - 1)
		require.Empty(w, w.numbers(w.s))
		time.Sleep(time.Nanosecond)
		require.Equal(w, []int{1}, w.numbers(w.s))
	}},
	{"a session that ends gives back all that it holds, and each expiry sees what the earlier ones did", func(w *fixture) {
		holder := w.session("holder", 0)
		w.put(w.s, "a", 1, 2, 3)
		for range 3 {
			w.call(holder, "test.hold", "s", "a", int64(0), "test.on.replace", false)
		}
		require.NoError(w, holder.Close(w.Context()))
		require.Equal(w, []int{1, 1, 1}, w.numbers(w.s))
		require.Equal(w, 3, w.count(w.s, "replaced"))
	}},
	{"a hold that ends wakes waiters", func(w *fixture) {
		w.put(w.s, "a", 1)
		w.call(w.repo, "test.hold", "s", "a", int64(time.Minute), "", false)
		get := w.get(w.s, anyItem("a"))
		time.Sleep(time.Minute - 1)
		get.waits()
		time.Sleep(time.Nanosecond)
		require.Equal(w, 1, get.returns())
	}},
}

// endHold makes a session hold the first tuple of a space with an expiry procedure, and ends the
// hold because of cause. It returns the ref of the tuple and the id of the session.
func (w *fixture) endHold(name, procedure string, cause space.Cause) (ref any, holder string) {
	r := w.session("holder-"+name, 2*time.Second)
	ttl := time.Duration(0)
	if cause == space.Due {
		ttl = time.Second
	}
	ref = w.call(r, "test.hold", name, "a", int64(ttl), procedure, false)[0]
	switch cause {
	case space.Due:
		time.Sleep(time.Second)
	case space.Lost:
		time.Sleep(2 * time.Second)
	case space.Closed:
		require.NoError(w, r.Close(w.Context()))
	}
	return ref, r.Session()
}
