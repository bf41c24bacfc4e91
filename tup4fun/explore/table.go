package explore

import (
	"math/bits"
	"slices"
	"sync"
)

// table numbers lists of values from 0. The states of a process, of a space or of the
// shared variables are stored once, and a whole state is a short list of such numbers
// (collapse compression, Holzmann 1997). The numbers depend on scheduling; the hashes do
// not. It is safe for concurrent use.
type table struct {
	mu     sync.RWMutex
	items  [][]int64
	hashes []uint64 // a hash of each item, the same in each run
	slots  []uint32 // item + 1, by hash; 0 is empty
	bytes  int64
}

func newTable() *table { return &table{slots: make([]uint32, 64)} }

// get returns an item, which must not be changed.
func (t *table) get(id uint32) []int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.items[id]
}

// hash returns the hash of an item.
func (t *table) hash(id uint32) uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.hashes[id]
}

// size returns the bytes of the table.
func (t *table) size() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.bytes
}

// intern returns the number of values, and copies them if they are new. hash is the hash to
// store with new values. Several goroutines may call it: it looks again after it has the lock for
// writing.
func (t *table) intern(values []int64, hash uint64) uint32 {
	h := hashValues(values)
	t.mu.RLock()
	id, ok := t.find(h, values)
	t.mu.RUnlock()
	if ok {
		return id
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.find(h, values); ok {
		return id
	}
	if len(t.items)*4 >= len(t.slots)*3 {
		t.grow()
	}
	id = uint32(len(t.items))
	t.items = append(t.items, slices.Clone(values))
	t.hashes = append(t.hashes, hash)
	t.place(h, id)
	t.bytes += int64(8*len(values) + 24 + 8 + 6) // the values, their slice, the hash, and about 6 of slots
	return id
}

// find returns the number of values with the hash h, and reports whether the table has them. mu
// must be held.
func (t *table) find(h uint64, values []int64) (uint32, bool) {
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if id := t.slots[i] - 1; slices.Equal(t.items[id], values) {
			return id, true
		}
	}
	return 0, false
}

// place puts a number into the first free slot of its hash. There must be one, and mu must be
// held.
func (t *table) place(h uint64, id uint32) {
	mask := uint64(len(t.slots) - 1)
	i := h & mask
	for t.slots[i] != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = id + 1
}

// grow doubles the slots and places all numbers again. mu must be held.
func (t *table) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	for id, values := range t.items {
		t.place(hashValues(values), uint32(id))
	}
}

// mix spreads the bits of a number (the last step of splitmix64, Steele et al. 2014).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// hashValues returns a hash of values, the same in each process.
func hashValues(values []int64) uint64 {
	h := uint64(len(values)) + 1
	for _, v := range values {
		h = (bits.RotateLeft64(h, 5) ^ uint64(v)) * 0x9e3779b97f4a7c15
	}
	return mix(h)
}
