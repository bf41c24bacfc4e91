package explore

import (
	"bytes"
	"math/bits"
	"sync"
)

const (
	manyShards = 6       // bits of the hash that select a shard, with several cores
	chunkSize  = 1 << 15 // bytes; no state spans two chunks
)

// store is the set of states seen. An exact store keeps each state as the numbers of its parts, 7
// bits a byte. A compact store (hash compaction, Wolper and Leroy 1993) keeps 64-bit hashes, and
// whole states only for the level explored and the next one. With one core there is one shard: then
// states are expanded in the order in which they were found, so that the tables of their neighbours
// are still cached. It is safe for concurrent use.
type store struct {
	width   int
	compact bool
	bits    int // of the hash, that select a shard
	shards  []shard
}

type shard struct {
	mu     sync.Mutex
	slots  []uint64 // exact: 32 bits of the hash, and where the state begins + 1; compact: hashes; 0 is empty
	used   int
	chunks [][]byte
	ends   []end // of the levels with states in this shard; exact only
	seen   byte  // written by prefetch, so that the compiler keeps its reads
}

// end is the position after the states of a level in a shard.
type end struct {
	level int32
	at    uint32
}

// newStore returns an empty store of states of width words, or with compact of their hashes. With
// one core it has a single shard, because nothing contends for its lock.
func newStore(width int, compact bool, cores int) *store {
	s := &store{width: width, compact: compact}
	if cores > 1 {
		s.bits = manyShards
	}
	s.shards = make([]shard, 1<<s.bits)
	for i := range s.shards {
		s.shards[i].slots = make([]uint64, 16)
	}
	return s
}

// hashState returns a hash of a state, within one process.
func hashState(s []uint32) uint64 {
	var h uint64
	for _, v := range s {
		h = (bits.RotateLeft64(h, 23) ^ uint64(v)) * 0x9e3779b97f4a7c15
	}
	return mix(h)
}

// appendState encodes s, 7 bits a byte; all bytes of a number but the last have the highest bit.
// readState is its inverse.
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

// readState decodes into s and returns the bytes it read. b must begin with an encoded state of
// that length.
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

// batchSize is the number of states that are added to a shard together. Waiting for
// memory dominates the cost, so the batch first reads the slots of all its states, and
// the processor waits for them at the same time.
const batchSize = 16

// batch holds states for one shard. It belongs to one goroutine.
type batch struct {
	count  int // of states
	hashes [batchSize]uint64
	ends   [batchSize]int // in states
	states []byte
}

// add puts a state into the batch for its shard, and flushes the batch if it is full. It
// returns the number of new states.
func (st *store) add(s []uint32, batches []batch) (added int64) {
	h := hashState(s)
	i := h >> (64 - st.bits)
	b := &batches[i]
	b.states = appendState(b.states, s)
	b.hashes[b.count], b.ends[b.count] = h, len(b.states)
	if b.count++; b.count < batchSize {
		return 0
	}
	return st.shards[i].addAll(b, st.compact)
}

// flush adds all batches to their shards and returns the number of new states.
func (st *store) flush(batches []batch) (added int64) {
	for i := range batches {
		if batches[i].count > 0 {
			added += st.shards[i].addAll(&batches[i], st.compact)
		}
	}
	return added
}

// addAll adds a batch, empties it, and returns the number of new states. With compact it adds
// hashes only, with the lowest bit set, because 0 is an empty slot. It takes the lock.
func (sh *shard) addAll(b *batch, compact bool) (added int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.prefetch(b.hashes[:b.count], compact)
	from := 0
	for k, h := range b.hashes[:b.count] {
		state := b.states[from:b.ends[k]]
		from = b.ends[k]
		if compact && sh.addHash(h|1, state) || !compact && sh.addExact(fragment(h), state) {
			added++
		}
	}
	b.count, b.states = 0, b.states[:0]
	return added
}

// prefetch reads the memory that addExact, or with compact addHash, will read first, so that these
// loads overlap. It adds to sh.seen only to have the compiler keep the loads.
func (sh *shard) prefetch(hashes []uint64, compact bool) {
	var near [batchSize]uint64
	for k, h := range hashes {
		near[k] = sh.slots[firstSlot(fragment(h), len(sh.slots))]
	}
	for k, h := range hashes {
		if at := uint32(near[k]) - 1; !compact && uint32(near[k]>>32) == fragment(h) && near[k] != 0 {
			sh.seen += sh.chunks[at/chunkSize][at%chunkSize]
		}
	}
}

// fragment returns the part of a hash that a slot keeps, without the bits that select the
// shard.
func fragment(h uint64) uint32 { return uint32(h << manyShards >> 32) }

// firstSlot returns the first slot for a hash among n slots.
func firstSlot(hash uint32, n int) int { return int(uint64(hash) * uint64(n) >> 32) }

// addExact adds a state and reports whether it is new. hash is the fragment of its hash.
// The caller holds the lock. The search for a slot ends, because the table is at most 3/4
// full.
func (sh *shard) addExact(hash uint32, state []byte) bool {
	i := firstSlot(hash, len(sh.slots))
	for ; sh.slots[i] != 0; i++ {
		if uint32(sh.slots[i]>>32) == hash {
			at := uint32(sh.slots[i]) - 1
			if have := sh.chunks[at/chunkSize][at%chunkSize:]; len(have) >= len(state) && bytes.Equal(have[:len(state)], state) {
				return false
			}
		}
		if i+1 == len(sh.slots) {
			i = -1 // goes on at the first slot
		}
	}
	sh.slots[i] = uint64(hash)<<32 | uint64(sh.write(state)+1)
	if sh.used++; sh.used*4 > len(sh.slots)*3 {
		sh.grow(2*len(sh.slots), func(entry uint64) uint32 { return uint32(entry >> 32) })
	}
	return true
}

// write appends a state and returns its position. Written states never move, because
// other goroutines read them.
func (sh *shard) write(state []byte) uint32 {
	last := len(sh.chunks) - 1
	if last < 0 || len(sh.chunks[last])+len(state) > chunkSize {
		var c []byte // the first chunk grows, because most models are small
		if last++; last > 0 {
			c = make([]byte, 0, chunkSize)
		}
		sh.chunks = append(sh.chunks, c)
	}
	at := uint32(last*chunkSize + len(sh.chunks[last]))
	sh.chunks[last] = append(sh.chunks[last], state...)
	return at
}

// addHash adds a hash, which is not 0, and its state, and reports whether the hash is
// new. The caller holds the lock. The search for a slot ends, because the table is at
// most 7/8 full.
func (sh *shard) addHash(h uint64, state []byte) bool {
	i := firstSlot(fragment(h), len(sh.slots))
	for ; sh.slots[i] != 0; i++ {
		if sh.slots[i] == h {
			return false
		}
		if i+1 == len(sh.slots) {
			i = -1 // goes on at the first slot
		}
	}
	sh.slots[i] = h
	sh.write(state)
	if sh.used++; sh.used*8 > len(sh.slots)*7 {
		sh.grow(len(sh.slots)*3/2, fragment)
	}
	return true
}

// grow moves all entries into n slots; hash returns the hash that selects the first
// slot of an entry.
func (sh *shard) grow(n int, hash func(uint64) uint32) {
	old := sh.slots
	sh.slots = make([]uint64, n)
	for _, entry := range old {
		if entry == 0 {
			continue
		}
		i := firstSlot(hash(entry), n)
		for sh.slots[i] != 0 {
			i = (i + 1) % n
		}
		sh.slots[i] = entry
	}
}
