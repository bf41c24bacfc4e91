package engine

import (
	"slices"

	"github.com/tidwall/btree"

	"leasehold/shared/space"
)

// key sorts an order. The key of an entry is its position in its space.
type key = space.Position

// order is a set of values sorted by their rank; no two ranks are equal. It keeps the
// values only and computes ranks when it needs them, because that costs less than the
// memory of another copy. Up to maxFew values it is a sorted slice, as most orders
// are, and then a B-tree with subtree counts: insert, remove, first, last and at are
// O(log n).
type order[T any] struct {
	rank func(T) key // must return the same for a value as long as it is in the order
	few  []T
	many *btree.BTreeG[T] // nil while few is used
}

// maxFew is the size above which an order becomes a tree. A tree becomes a slice again
// only when it is empty, so that an order at the limit does not change all the time.
const maxFew = 32

func newOrder[T any](rank func(T) key) *order[T] { return &order[T]{rank: rank} }

// len returns how many values the order has.
func (o *order[T]) len() int {
	if o.many != nil {
		return o.many.Len()
	}
	return len(o.few)
}

// insert adds v, or replaces the value of its rank. With more than maxFew values the order
// becomes a tree.
func (o *order[T]) insert(v T) {
	if o.many != nil {
		o.many.Set(v)
		return
	}
	i, found := o.position(o.rank(v))
	if found {
		o.few[i] = v
		return
	}
	o.few = slices.Insert(o.few, i, v)
	if len(o.few) > maxFew {
		rank := o.rank
		o.many = btree.NewBTreeGOptions(func(a, b T) bool { return rank(a).Compare(rank(b)) < 0 }, btree.Options{NoLocks: true})
		for _, v := range o.few {
			o.many.Load(v)
		}
		o.few = nil
	}
}

// remove removes the value of v's rank, if there is one. An empty tree becomes a slice again.
func (o *order[T]) remove(v T) {
	if o.many != nil {
		o.many.Delete(v)
		if o.many.Len() == 0 {
			o.many = nil
		}
		return
	}
	if i, found := o.position(o.rank(v)); found {
		o.few = slices.Delete(o.few, i, i+1)
	}
}

// position returns where k is in few, or would be, and whether it is there. It compares
// the ends first, because queues change there.
func (o *order[T]) position(k key) (int, bool) {
	n := len(o.few)
	if n == 0 || o.rank(o.few[n-1]).Compare(k) < 0 {
		return n, false
	}
	if c := o.rank(o.few[0]).Compare(k); c >= 0 {
		return 0, c == 0
	}
	return slices.BinarySearchFunc(o.few, k, func(v T, k key) int { return o.rank(v).Compare(k) })
}

// first returns the value of the lowest rank, and whether there is one. The result of an empty
// order is the zero value.
func (o *order[T]) first() (v T, ok bool) {
	if o.many != nil {
		return o.many.Min()
	}
	if len(o.few) == 0 {
		return v, false
	}
	return o.few[0], true
}

// last returns the value of the highest rank, and whether there is one. The result of an empty
// order is the zero value.
func (o *order[T]) last() (v T, ok bool) {
	if o.many != nil {
		return o.many.Max()
	}
	if len(o.few) == 0 {
		return v, false
	}
	return o.few[len(o.few)-1], true
}

// at returns the i-th value, counted from 0; there must be one.
func (o *order[T]) at(i int) T {
	if o.many != nil {
		v, _ := o.many.GetAt(i)
		return v
	}
	return o.few[i]
}

// all calls each with every value in order until each returns false. The order must
// not change meanwhile.
func (o *order[T]) all(each func(T) bool) {
	if o.many != nil {
		o.many.Scan(each)
		return
	}
	for _, v := range o.few {
		if !each(v) {
			return
		}
	}
}

// from is all for the values whose rank is at least v's; v need not be in the order.
func (o *order[T]) from(v T, each func(T) bool) {
	if o.many != nil {
		o.many.Ascend(v, each)
		return
	}
	i, _ := o.position(o.rank(v))
	for _, v := range o.few[i:] {
		if !each(v) {
			return
		}
	}
}
