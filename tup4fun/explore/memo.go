package explore

// maxMemo is how many steps are remembered by one goroutine before it forgets all.
const maxMemo = 1 << 19

// memoKey is what the steps from one node depend on: the process, the shared
// variables and up to four spaces, each by its number.
type memoKey [3]uint64

func (k memoKey) hash() uint64 {
	h := k[0]*0x9e3779b97f4a7c15 ^ k[1]*0xc2b2ae3d27d4eb4f ^ k[2]*0x165667b19e3779f9
	h ^= h >> 32
	return h * 0xd6e8feb86659fd93 >> 20
}

// A memo remembers the outcomes of the steps from a node. An entry of data is the
// number of outcomes (or wrong and the index of an error), then for each the
// process, the shared variables and the node's spaces after it.
type memo struct {
	slots []memoSlot
	data  []uint32
	used  int
}

type memoSlot struct {
	key memoKey
	at  uint32 // of the entry + 1; 0 is empty
}

// wrong is the number of outcomes of a step that has no meaning.
const wrong = ^uint32(0)

func newMemo() *memo { return &memo{slots: make([]memoSlot, 1024)} }

// find returns the entry of k, or where it may be put.
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

// add puts an entry where find said that it may be.
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
