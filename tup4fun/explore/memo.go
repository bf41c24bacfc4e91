package explore

// maxMemo bounds the steps that one goroutine caches; at the bound the cache is cleared.
const maxMemo = 1 << 19

// memoKey identifies the state that the steps of a node depend on: the process, the
// shared variables and up to four spaces.
type memoKey [3]uint64

// hash mixes the three parts of a key, so that its low bits depend on all of them.
func (k memoKey) hash() uint64 {
	h := k[0]*0x9e3779b97f4a7c15 ^ k[1]*0xc2b2ae3d27d4eb4f ^ k[2]*0x165667b19e3779f9
	h ^= h >> 32
	return h * 0xd6e8feb86659fd93 >> 20
}

// memo caches the outcomes of the steps of a node. An entry of data is the number of
// outcomes (or failedEntry and the index of an error), then for each outcome the process,
// the shared variables and the spaces of the node after it.
type memo struct {
	slots []memoSlot
	data  []uint32
	used  int
}

type memoSlot struct {
	key memoKey
	at  uint32 // index of the entry + 1; 0 is empty
}

// failedEntry replaces the number of outcomes if a step failed.
const failedEntry = ^uint32(0)

func newMemo() *memo { return &memo{slots: make([]memoSlot, 1024)} }

// find returns the entry of k and the entries after it, or nil and the slot for k, which
// is valid until the next add. A free slot exists, because add keeps the table at most
// 3/4 full.
func (m *memo) find(k memoKey) (entry []uint32, slot uint64) {
	mask := uint64(len(m.slots) - 1)
	for slot = k.hash() & mask; ; slot = (slot + 1) & mask {
		switch s := &m.slots[slot]; {
		case s.at == 0:
			return nil, slot
		case s.key == k:
			return m.data[s.at-1:], slot
		}
	}
}

// add stores an entry in the slot that find returned for k; nothing may be added in between.
// Beyond maxMemo entries it forgets all, to bound the memory.
func (m *memo) add(k memoKey, slot uint64, entry []uint32) {
	m.slots[slot] = memoSlot{k, uint32(len(m.data)) + 1}
	m.data = append(m.data, entry...)
	m.used++
	switch {
	case m.used > maxMemo:
		*m = *newMemo()
	case m.used*4 > len(m.slots)*3:
		m.grow()
	}
}

// grow doubles the slots. The entries stay where they are in data.
func (m *memo) grow() {
	old := m.slots
	m.slots = make([]memoSlot, 2*len(old))
	for _, s := range old {
		if s.at != 0 {
			_, slot := m.find(s.key)
			m.slots[slot] = s
		}
	}
}
