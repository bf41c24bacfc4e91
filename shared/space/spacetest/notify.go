package spacetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// notify subscribes to a space.
func (w *fixture) notify(p tuple.Template) space.Subscription {
	sub, err := w.s.Notify(w.Context(), p)
	require.NoError(w, err)
	return sub
}

// happened returns the events that wait in a subscription, and the number of missed ones. A
// deadline of a nanosecond ends the wait for more, because time stands still until all
// goroutines block.
func (w *fixture) happened(sub space.Subscription) (changes []string, missed int) {
	for {
		ctx, cancel := context.WithTimeout(w.Context(), time.Nanosecond)
		events, more, err := sub.Next(ctx)
		cancel()
		if err != nil {
			require.ErrorIs(w, err, context.DeadlineExceeded)
			return changes, missed
		}
		missed += more
		for _, e := range events {
			require.Equal(w, "s", e.Space)
			changes = append(changes, e.Procedure+" "+string(e.Change)+" "+e.Tuple.String())
		}
	}
}

var notifications = []behaviour{
	{"events arrive in order, with the procedure that caused them", func(w *fixture) {
		sub := w.notify(nil)
		w.put(w.s, "a", 1)
		ref := w.call(w.repo, "test.hold", "s", "a", int64(0), "", false)[0]
		w.call(w.repo, "test.replace", ref, item("b", 2))
		w.call(w.repo, "test.back", ref, false)
		w.call(w.repo, "test.hold", "s", "b", int64(0), "", false)
		w.call(w.repo, "test.done", ref)
		w.put(w.s, "a", 3)
		require.Equal(w, 3, w.getP(w.s, anything))
		require.NoError(w, w.s.Put(w.Context(), item("a", 4), 1))
		time.Sleep(time.Nanosecond)
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.fail", tuple.New("s"))
		require.Error(w, err)
		changes, missed := w.happened(sub)
		require.Zero(w, missed)
		require.Equal(w, []string{
			` put ("a", 1)`, `test.hold hold ("a", 1)`, `test.replace replace ("b", 2)`, `test.back back ("b", 2)`,
			`test.hold hold ("b", 2)`, `test.done done ("b", 2)`, ` put ("a", 3)`, ` take ("a", 3)`,
			` put ("a", 4)`, ` take ("a", 4)`,
		}, changes)
	}},
	{"only changes of tuples that match the template, in that space, from then on, are events", func(w *fixture) {
		w.put(w.s, "a", 1)
		sub := w.notify(anyItem("a"))
		w.put(w.s, "b", 2)
		w.put(w.create("other", space.Options{}), "a", 3)
		w.put(w.s, "a", 4)
		changes, _ := w.happened(sub)
		require.Equal(w, []string{` put ("a", 4)`}, changes)
	}},
	{"next waits for a change", func(w *fixture) {
		sub := w.notify(nil)
		p := w.begin(func() (tuple.Tuple, error) {
			events, _, err := sub.Next(w.Context())
			return events[0].Tuple, err
		})
		p.waits()
		w.put(w.s, "a", 7)
		require.Equal(w, 7, p.returns())
	}},
	{"a slow subscriber loses events, and gets their number", func(w *fixture) {
		sub := w.notify(nil)
		const all = 10_000
		for n := range all {
			w.put(w.s, "a", n)
		}
		changes, missed := w.happened(sub)
		require.Equal(w, all, len(changes)+missed)
		require.Positive(w, missed)
		require.Equal(w, ` put ("a", 9999)`, changes[len(changes)-1])
	}},
	{"events larger than one reply come in several", func(w *fixture) {
		sub := w.notify(nil)
		large := tuple.New("a", int64(1), string(make([]byte, tuple.MaxBytes/2)))
		for range 20 {
			require.NoError(w, w.s.Put(w.Context(), large, 0))
		}
		changes, missed := w.happened(sub)
		require.Len(w, changes, 20)
		require.Zero(w, missed)
	}},
	{"the bytes that wait for a slow subscriber are bounded", func(w *fixture) {
		sub := w.notify(nil)
		const all = 40
		large := tuple.New("a", int64(1), string(make([]byte, tuple.MaxBytes-100)))
		for range all / 2 {
			require.NoError(w, w.s.Put(w.Context(), large, 0))
			require.Equal(w, 1, w.getP(w.s, large.Exactly()))
		}
		changes, missed := w.happened(sub)
		require.Equal(w, all, len(changes)+missed)
		require.LessOrEqual(w, len(changes), 16)
		require.Contains(w, changes[len(changes)-1], " take ")
	}},
	{"a subscription that is closed ends, also for calls that wait for it", func(w *fixture) {
		sub := w.notify(nil)
		next := func() (tuple.Tuple, error) { _, _, err := sub.Next(w.Context()); return nil, err }
		p, q := w.begin(next), w.begin(next)
		require.NoError(w, sub.Close(w.Context()))
		require.ErrorIs(w, p.error(), fault.ErrClosed)
		require.ErrorIs(w, q.error(), fault.ErrClosed)
		w.put(w.s, "a", 1)
		_, err := next()
		require.ErrorIs(w, err, fault.ErrClosed)
		require.NoError(w, sub.Close(w.Context()))
	}},
	{"what a subscriber does to its events changes nothing", func(w *fixture) {
		sub, other := w.notify(nil), w.notify(nil)
		require.NoError(w, w.s.Put(w.Context(), tuple.New([]byte("a")), 0))
		events, _, err := sub.Next(w.Context())
		require.NoError(w, err)
		events[0].Tuple[0].([]byte)[0] = 'x'
		events, _, err = other.Next(w.Context())
		require.NoError(w, err)
		require.Equal(w, tuple.New([]byte("a")), events[0].Tuple)
		_, err = w.s.Get(w.Context(), tuple.Match([]byte("a")))
		require.NoError(w, err)
	}},
	{"the number of a session's subscriptions is bounded", func(w *fixture) {
		var err error
		for range 10_000 {
			if _, err = w.s.Notify(w.Context(), nil); err != nil {
				break
			}
		}
		require.ErrorIs(w, err, fault.ErrOverloaded)
	}},
}
