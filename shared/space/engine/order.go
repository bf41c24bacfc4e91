package engine

import (
	"slices"

	"github.com/tidwall/btree"
)

// key sorts an order: by major, then by minor.
type key struct{ major, minor int64 }

func (k key) compare(o key) int {
	switch {
	case k.major != o.major && k.major < o.major, k.major == o.major && k.minor < o.minor:
		return -1
	case k == o:
		return 0
	}
	return 1
}

type slot[T any] struct {
	key
	value T
}

// order is a set of values sorted by key. It is a sorted slice while it is
// small, as most are, and a B-tree with subtree counts once it is not: insert,
// remove, first, last and at are O(log n) with a small constant.
type order[T any] struct {
	few  []slot[T]
	many *btree.BTreeG[slot[T]] // nil while few serves
}

// fewest is the size at which an order becomes a tree.
const fewest = 32

func (o *order[T]) len() int {
	if o.many != nil {
		return o.many.Len()
	}
	return len(o.few)
}

// insert adds v under k, or replaces what is there.
func (o *order[T]) insert(k key, v T) {
	s := slot[T]{k, v}
	if o.many != nil {
		o.many.Set(s)
		return
	}
	i, found := o.position(k)
	if found {
		o.few[i] = s
		return
	}
	o.few = slices.Insert(o.few, i, s)
	if len(o.few) > fewest {
		o.many = btree.NewBTreeGOptions(func(a, b slot[T]) bool { return a.compare(b.key) < 0 }, btree.Options{NoLocks: true})
		for _, s := range o.few {
			o.many.Load(s)
		}
		o.few = nil
	}
}

func (o *order[T]) remove(k key) {
	if o.many != nil {
		o.many.Delete(slot[T]{key: k})
		if o.many.Len() == 0 {
			o.many = nil
		}
		return
	}
	if i, found := o.position(k); found {
		o.few = slices.Delete(o.few, i, i+1)
	}
}

// position finds k in few, looking at the ends first: queues live there.
func (o *order[T]) position(k key) (int, bool) {
	n := len(o.few)
	if n == 0 || o.few[n-1].compare(k) < 0 {
		return n, false
	}
	if c := o.few[0].compare(k); c >= 0 {
		return 0, c == 0
	}
	return slices.BinarySearchFunc(o.few, k, func(s slot[T], k key) int { return s.compare(k) })
}

func (o *order[T]) first() (v T, ok bool) {
	if o.many != nil {
		s, ok := o.many.Min()
		return s.value, ok
	}
	if len(o.few) == 0 {
		return v, false
	}
	return o.few[0].value, true
}

func (o *order[T]) last() (v T, ok bool) {
	if o.many != nil {
		s, ok := o.many.Max()
		return s.value, ok
	}
	if len(o.few) == 0 {
		return v, false
	}
	return o.few[len(o.few)-1].value, true
}

// at returns the i-th value, counted from 0.
func (o *order[T]) at(i int) T {
	if o.many != nil {
		s, _ := o.many.GetAt(i)
		return s.value
	}
	return o.few[i].value
}

// ascend calls each with every value whose key is at least from, in order, until
// it returns false. The order must not change meanwhile.
func (o *order[T]) ascend(from key, each func(T) bool) {
	if o.many != nil {
		o.many.Ascend(slot[T]{key: from}, func(s slot[T]) bool { return each(s.value) })
		return
	}
	i, _ := o.position(from)
	for _, s := range o.few[i:] {
		if !each(s.value) {
			return
		}
	}
}
