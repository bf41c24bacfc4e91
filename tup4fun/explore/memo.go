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
	keys []memoKey
	at   []uint32 // of the entry + 1; 0 is empty
	data []uint32
	used int
}

// wrong is the number of outcomes of a step that has no meaning.
const wrong = ^uint32(0)

func newMemo() *memo { return &memo{keys: make([]memoKey, 1024), at: make([]uint32, 1024)} }

// find returns the entry of k, or where it may be put.
func (m *memo) find(k memoKey) (entry []uint32, slot uint64) {
	mask := uint64(len(m.at) - 1)
	slot = k.hash() & mask
	for m.at[slot] != 0 {
		if m.keys[slot] == k {
			return m.data[m.at[slot]-1:], slot
		}
		slot = (slot + 1) & mask
	}
	return nil, slot
}

// add puts an entry where find said that it may be.
func (m *memo) add(k memoKey, slot uint64, entry []uint32) {
	m.keys[slot], m.at[slot] = k, uint32(len(m.data))+1
	m.data = append(m.data, entry...)
	m.used++
	switch {
	case m.used > maxMemo:
		*m = *newMemo()
	case m.used*4 > len(m.at)*3:
		m.grow()
	}
}

func (m *memo) grow() {
	keys, at := m.keys, m.at
	m.keys, m.at = make([]memoKey, 2*len(keys)), make([]uint32, 2*len(at))
	for i, k := range keys {
		if at[i] != 0 {
			_, slot := m.find(k)
			m.keys[slot], m.at[slot] = k, at[i]
		}
	}
}
