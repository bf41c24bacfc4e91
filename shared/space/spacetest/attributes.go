package spacetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

var attributeBehaviours = []behaviour{
	{"attributes are kept beside the tuple, through holds and replacements, until they are amended", func(w *fixture) {
		ref := w.attributed("s", item("a", 1), "one", 0, "red", "blue")
		w.call(w.repo, "test.hold", "s", "a", int64(time.Minute), "", false)
		w.call(w.repo, "test.replace", ref, item("a", 2))
		require.Equal(w, tuple.New("one", int64(2)), w.call(w.repo, "test.labelled", "s", "red"))
		w.call(w.repo, "test.amend", ref, "two", int64(0), "green")
		require.Equal(w, tuple.New("", int64(0)), w.call(w.repo, "test.labelled", "s", "red"))
		w.call(w.repo, "test.back", ref, false)
		require.Equal(w, tuple.New("two", int64(2)), w.call(w.repo, "test.labelled", "s", "green"))
		require.Equal(w, 2, w.getP(w.s, anyItem("a")), "sessions see the tuple only")
		require.Equal(w, tuple.New("", int64(0)), w.call(w.repo, "test.labelled", "s", "green"))
	}},
	{"a label finds visible and held tuples in the order of the kind", func(w *fixture) {
		w.create("o", space.Options{Kind: space.Ordered, OrderBy: 1})
		for _, n := range []int{3, 9, 5, 7} {
			w.attributed("o", item("a", n), "", 0, "red")
		}
		w.call(w.repo, "test.hold", "o", "a", int64(time.Minute), "", true)
		require.Equal(w, tuple.New(int64(9), int64(7), int64(5), int64(3)), w.walk("o", "red", "", false, 0))
		require.Equal(w, tuple.New("", int64(3)), w.call(w.repo, "test.labelled", "o", "red"), "the last one")
		require.Empty(w, w.walk("o", "blue", "", false, 0))
		require.Empty(w, w.walk("nowhere", "red", "", false, 0))
	}},
	{"a walk goes on behind a position, in every kind", func(w *fixture) {
		for _, kind := range space.Kinds {
			s := w.create(string(kind), space.Options{Kind: kind, OrderBy: 1})
			w.put(s, "b", 100)
			for n := range 40 {
				w.attributed(string(kind), item("a", n%7), "", int64(n%3), "red")
			}
			for _, label := range []string{"", "red"} {
				all := w.walk(string(kind), label, "a", false, 0)
				require.Len(w, all, 40, kind)
				require.Equal(w, all[17:], w.walk(string(kind), label, "a", false, 17), kind)
				require.Empty(w, w.walk(string(kind), label, "a", false, 40), kind)
			}
		}
	}},
	{"a walk over held tuples sees no others", func(w *fixture) {
		w.put(w.s, "a", 1, 2, 3)
		w.call(w.repo, "test.hold", "s", "a", int64(time.Minute), "", false)
		require.Equal(w, tuple.New(int64(1)), w.walk("s", "", "a", true, 0))
		require.Equal(w, tuple.New(int64(2), int64(3)), w.walk("s", "", "a", false, 0))
	}},
	{"tuples of equal order fields take turns", func(w *fixture) {
		o := w.create("o", space.Options{Kind: space.Ordered, OrderBy: 1})
		for _, x := range []struct {
			name string
			n    int
			turn int64
		}{{"d", 1, 7}, {"b", 1, -2}, {"a", 2, 9}, {"c", 1, 7}, {"e", 1, 0}} {
			w.attributed("o", item(x.name, x.n), "", x.turn)
		}
		all, err := o.QueryAll(w.Context(), anything)
		require.NoError(w, err)
		var names []string
		for _, t := range all {
			names = append(names, t.Str(0))
		}
		require.Equal(w, []string{"a", "b", "e", "d", "c"}, names)
	}},
	{"a failed procedure leaves the attributes as they were", func(w *fixture) {
		w.attributed("s", item("a", 1), "one", 0, "red")
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.fail", tuple.New("s"))
		require.Error(w, err)
		require.Equal(w, tuple.New("one", int64(1)), w.call(w.repo, "test.labelled", "s", "red"))
	}},
	{"attributes are bounded", func(w *fixture) {
		long := string(make([]byte, space.MaxLabel+1))
		_, err := w.repo.Call(w.Context(), space.OpID{}, "test.attributed", tuple.New("s", item("a", 1), "", int64(0), long))
		require.ErrorIs(w, err, fault.ErrTooLarge)
		ref := w.attributed("s", item("a", 1), "one", 0)
		_, err = w.repo.Call(w.Context(), space.OpID{}, "test.amend", tuple.New(ref, "", int64(0), long))
		require.ErrorIs(w, err, fault.ErrTooLarge)
		_, err = w.repo.Call(w.Context(), space.OpID{}, "test.amend", tuple.New(ref.(int64)+99, "", int64(0)))
		require.ErrorIs(w, err, fault.ErrNotFound)
	}},
	{"a hold without session and TTL lasts until a procedure ends it", func(w *fixture) {
		w.put(w.s, "a", 1)
		other := w.session("other", 0)
		ref := w.call(other, "test.hold", "s", "a", int64(0), "", true)[0]
		require.NoError(w, other.Close(w.Context()))
		time.Sleep(30 * time.Hour)
		require.Empty(w, w.numbers(w.s))
		w.call(w.repo, "test.back", ref, false)
		require.Equal(w, []int{1}, w.numbers(w.s))
	}},
}

// attributed puts an item with attributes, and returns its ref as a field of a tuple.
func (w *fixture) attributed(name string, t tuple.Tuple, fields string, turn int64, labels ...string) any {
	args := []any{name, t, fields, turn}
	for _, l := range labels {
		args = append(args, l)
	}
	return w.call(w.repo, "test.attributed", args...)[0]
}

// walk returns the numbers of the items that a walk visits behind the n-th one: those with a label or, if it is
// empty, those with the name items, the held ones if held is set.
func (w *fixture) walk(name, label, items string, held bool, n int) tuple.Tuple {
	return w.call(w.repo, "test.walk", name, label, items, held, int64(n))
}

// attributesOf returns the attributes in arguments: fields, turn, label….
func attributesOf(args tuple.Tuple) space.Attributes {
	a := space.Attributes{Fields: args.Str(0), Turn: args.Int64(1)}
	for n := range args[2:] {
		a.Labels = append(a.Labels, args.Str(2+n))
	}
	return a
}

// putAttributed is test.attributed.
func putAttributed(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	t, _ := args[1].(tuple.Tuple)
	ref, err := tx.Put(args.Str(0), t, space.PutOptions{Attributes: attributesOf(args[2:])})
	return tuple.New(ref), err
}

func amend(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	return nil, tx.Amend(args.Int64(0), nil, attributesOf(args[1:]))
}

// labelled is test.labelled. It also fails unless the label is counted if and only if a tuple has it.
func labelled(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, ok := tx.LastLabelled(args.Str(0), args.Str(1))
	if ok != (tx.CountLabelled(args.Str(0), args.Str(1)) > 0) {
		return nil, fault.ErrCorrupt
	}
	return tuple.New(e.Fields, e.Tuple.Int64(1)), nil
}

// walk is test.walk: it walks over the tuples to skip, and begins another walk behind the last of
// them.
func walk(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	w := space.Walk{Space: args.Str(0), Label: args.Str(1), Template: anyItem(args.Str(2)), Held: args.Bool(3)}
	if skip := args.Int64(4); skip > 0 {
		tx.Walk(w, func(e space.Entry) bool {
			w.After = e.Position
			skip--
			return skip > 0
		})
	}
	var numbers tuple.Tuple
	tx.Walk(w, func(e space.Entry) bool { numbers = append(numbers, e.Tuple.Int64(1)); return true })
	return numbers, nil
}
