package explore

import (
	"bytes"
	"math/bits"
	"sync"
)

const (
	manyShards = 6       // bits of the hash that name a shard, where there are several cores
	chunkSize  = 1 << 15 // bytes; a state is never in two
)

// A store is the set of states seen. Exactly stored, a state is the numbers of its
// parts, 7 bits a byte; hash-compacted (Wolper and Leroy 1993), it is a print of
// 64 bits, and only the states of the level that is being explored and of the next
// are kept whole. For one core it has one shard: then states are expanded in the
// order in which they were found, and what their neighbours needed is still at hand.
// It is safe for concurrent use.
type store struct {
	width   int
	compact bool
	bits    int // of the hash, that name a shard
	shards  []shard
}

type shard struct {
	mu     sync.Mutex
	slots  []uint64 // exact: 32 bits of the hash, and where the state begins + 1; 0 is empty
	prints []uint64 // compact: hashes; 0 is empty
	used   int
	chunks [][]byte
	ends   []end // of the levels that have states here: exact only
	seen   byte  // of touch, which the compiler must not leave out
}

// end is where the states of a level, and of those before it, end in a shard.
type end struct {
	level int32
	at    uint32
}

func newStore(width int, compact bool, cores int) *store {
	s := &store{width: width, compact: compact}
	if cores > 1 {
		s.bits = manyShards
	}
	s.shards = make([]shard, 1<<s.bits)
	for i := range s.shards {
		s.shards[i].resize(16, compact)
	}
	return s
}

func (sh *shard) resize(n int, compact bool) {
	if compact {
		sh.prints = make([]uint64, n)
	} else {
		sh.slots = make([]uint64, n)
	}
}

func hashState(s []uint32) uint64 {
	var h uint64
	for _, v := range s {
		h = (bits.RotateLeft64(h, 23) ^ uint64(v)) * 0x9e3779b97f4a7c15
	}
	return mix(h)
}

// appendState writes s, 7 bits a byte.
func appendState(b []byte, s []uint32) []byte {
	for _, v := range s {
		for v >= 0x80 {
			b = append(b, byte(v)|0x80)
			v >>= 7
		}
		b = append(b, byte(v))
	}
	return b
}

// readState reads into s, and returns how many bytes it had.
func readState(b []byte, s []uint32) int {
	n := 0
	for i := range s {
		v, shift := uint32(b[n]&0x7f), 7
		for b[n] >= 0x80 {
			n++
			v |= uint32(b[n]&0x7f) << shift
			shift += 7
		}
		n++
		s[i] = v
	}
	return n
}

// batchSize is how many states go into a shard together. What costs is to wait for
// memory, so each first looks where all of them would be: the processor waits for
// these at once.
const batchSize = 16

// A batch is states on their way into one shard. It is of one goroutine.
type batch struct {
	n      int
	hashes [batchSize]uint64
	ends   [batchSize]int // in states
	states []byte
}

// add puts a state into the batch for its shard, and the batch into the shard if it
// is full. It returns how many states were new.
func (st *store) add(s []uint32, batches []batch) (fresh int64) {
	h := hashState(s)
	i := h >> (64 - st.bits)
	b := &batches[i]
	b.states = appendState(b.states, s)
	b.hashes[b.n], b.ends[b.n] = h, len(b.states)
	if b.n++; b.n < batchSize {
		return 0
	}
	return st.shards[i].addAll(b, st.compact)
}

// flush puts into the shards what is not there yet, and returns how many states of
// it were new.
func (st *store) flush(batches []batch) (fresh int64) {
	for i := range batches {
		if batches[i].n > 0 {
			fresh += st.shards[i].addAll(&batches[i], st.compact)
		}
	}
	return fresh
}

// addAll empties a batch.
func (sh *shard) addAll(b *batch, compact bool) (fresh int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.touch(b.hashes[:b.n], compact)
	from := 0
	for k, h := range b.hashes[:b.n] {
		state := b.states[from:b.ends[k]]
		from = b.ends[k]
		if compact && sh.addPrint(h|1, state) || !compact && sh.addExact(fragment(h), state) {
			fresh++
		}
	}
	b.n, b.states = 0, b.states[:0]
	return fresh
}

// touch reads what addExact or addPrint will read first.
func (sh *shard) touch(hashes []uint64, compact bool) {
	var near [batchSize]uint64
	for k, h := range hashes {
		if compact {
			near[k] = sh.prints[home(fragment(h), len(sh.prints))]
		} else {
			near[k] = sh.slots[home(fragment(h), len(sh.slots))]
		}
	}
	for k, h := range hashes {
		if at := uint32(near[k]) - 1; !compact && uint32(near[k]>>32) == fragment(h) && near[k] != 0 {
			sh.seen += sh.chunks[at/chunkSize][at%chunkSize]
		}
	}
}

// fragment is the part of a hash that a slot keeps, without what names the shard.
func fragment(h uint64) uint32 { return uint32(h << manyShards >> 32) }

// home is where to look first for a hash among n slots.
func home(hash uint32, n int) int { return int(uint64(hash) * uint64(n) >> 32) }

func (sh *shard) addExact(hash uint32, state []byte) bool {
	i := home(hash, len(sh.slots))
	for ; sh.slots[i] != 0; i++ {
		if uint32(sh.slots[i]>>32) == hash {
			at := uint32(sh.slots[i]) - 1
			if have := sh.chunks[at/chunkSize][at%chunkSize:]; len(have) >= len(state) && bytes.Equal(have[:len(state)], state) {
				return false
			}
		}
		if i+1 == len(sh.slots) {
			i = -1
		}
	}
	sh.slots[i] = uint64(hash)<<32 | uint64(sh.write(state)+1)
	if sh.used++; sh.used*4 > len(sh.slots)*3 {
		sh.growExact()
	}
	return true
}

// write appends a state, and returns where it begins. What was written stays
// where it is for those who read it.
func (sh *shard) write(state []byte) uint32 {
	last := len(sh.chunks) - 1
	if last < 0 || len(sh.chunks[last])+len(state) > chunkSize {
		var c []byte // the first grows, as most models are small
		if last++; last > 0 {
			c = make([]byte, 0, chunkSize)
		}
		sh.chunks = append(sh.chunks, c)
	}
	at := uint32(last*chunkSize + len(sh.chunks[last]))
	sh.chunks[last] = append(sh.chunks[last], state...)
	return at
}

func (sh *shard) growExact() {
	slots := sh.slots
	sh.resize(len(slots)*2, false)
	for _, entry := range slots {
		if entry == 0 {
			continue
		}
		j := home(uint32(entry>>32), len(sh.slots))
		for sh.slots[j] != 0 {
			if j++; j == len(sh.slots) {
				j = 0
			}
		}
		sh.slots[j] = entry
	}
}

func (sh *shard) addPrint(h uint64, state []byte) bool {
	i := home(fragment(h), len(sh.prints))
	for ; sh.prints[i] != 0; i++ {
		if sh.prints[i] == h {
			return false
		}
		if i+1 == len(sh.prints) {
			i = -1
		}
	}
	sh.prints[i] = h
	sh.write(state)
	if sh.used++; sh.used*8 > len(sh.prints)*7 {
		sh.growPrints()
	}
	return true
}

func (sh *shard) growPrints() {
	prints := sh.prints
	sh.resize(len(prints)*3/2, true)
	for _, h := range prints {
		if h == 0 {
			continue
		}
		j := home(fragment(h), len(sh.prints))
		for sh.prints[j] != 0 {
			if j++; j == len(sh.prints) {
				j = 0
			}
		}
		sh.prints[j] = h
	}
}
