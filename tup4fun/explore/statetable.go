package explore

import "slices"

// stateTable numbers states from 0 in the order in which they are added. All states have the same width.
// Several goroutines may read it while
// none adds states.
type stateTable struct {
	width  int
	count  int
	values []uint32 // of all states, one after the other
	slots  []uint64 // 32 bits of the hash, and the number + 1; 0 is empty
}

// newStateTable returns an empty table of states with width parts, at least one.
func newStateTable(width int) *stateTable {
	return &stateTable{width: width, slots: make([]uint64, 64)}
}

// get returns a state, which must not be changed.
func (t *stateTable) get(i int) []uint32 { return t.values[i*t.width : (i+1)*t.width : (i+1)*t.width] }

// bytes returns the memory of the table.
func (t *stateTable) bytes() int64 { return int64(4*cap(t.values) + 8*len(t.slots)) }

// find returns the number of a state, or -1, and its slot, or the free slot for it. The search ends, because the table
// is at most 3/4 full.
func (t *stateTable) find(s []uint32) (id int, slot uint64) {
	h := hashState(s)
	mask := uint64(len(t.slots) - 1)
	i := h & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		id := int(uint32(t.slots[i])) - 1
		if t.slots[i]>>32 == h>>32 && slices.Equal(t.get(id), s) {
			return id, i
		}
	}
	return -1, i
}

// intern returns the number of a state, and adds a copy of the state if it is new.
func (t *stateTable) intern(s []uint32) int {
	id, slot := t.find(s)
	if id >= 0 {
		return id
	}
	id = t.count
	t.count++
	t.values = append(t.values, s...)
	t.slots[slot] = hashState(s)>>32<<32 | uint64(t.count)
	if t.count*4 > len(t.slots)*3 {
		t.grow()
	}
	return id
}

// grow doubles the slots and places all numbers again.
func (t *stateTable) grow() {
	t.slots = make([]uint64, 2*len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for id := range t.count {
		h := hashState(t.get(id))
		i := h & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = h>>32<<32 | uint64(id+1)
	}
}
