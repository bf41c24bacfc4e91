package explore

import "sort"

// endLevel ends a level and returns its states, encoded by appendState; none if the level
// is empty. No state may be added meanwhile; the slices stay valid when further states are
// added later. A compact store forgets the states.
func (st *store) endLevel(level int) [][]byte {
	var pieces [][]byte
	for i := range st.shards {
		sh := &st.shards[i]
		if st.compact {
			pieces = append(pieces, sh.chunks...)
			sh.chunks = nil
			continue
		}
		from, to := sh.levelStart(), sh.levelEnd()
		if to > from {
			sh.ends = append(sh.ends, end{int32(level), to})
			pieces = append(pieces, sh.pieces(from, to)...)
		}
	}
	return pieces
}

// level returns the states of a level that has ended, and none for a level without states. Only an
// exact store keeps them.
func (st *store) level(level int) [][]byte {
	var pieces [][]byte
	for i := range st.shards {
		sh := &st.shards[i]
		k := sort.Search(len(sh.ends), func(k int) bool { return int(sh.ends[k].level) >= level })
		if k == len(sh.ends) || int(sh.ends[k].level) != level {
			continue
		}
		var from uint32
		if k > 0 {
			from = sh.ends[k-1].at
		}
		pieces = append(pieces, sh.pieces(from, sh.ends[k].at)...)
	}
	return pieces
}

// levelStart returns the position of the first state of the current level.
func (sh *shard) levelStart() uint32 {
	if len(sh.ends) == 0 {
		return 0
	}
	return sh.ends[len(sh.ends)-1].at
}

// levelEnd returns the position after the last state.
func (sh *shard) levelEnd() uint32 {
	if len(sh.chunks) == 0 {
		return 0
	}
	last := len(sh.chunks) - 1
	return uint32(last*chunkSize + len(sh.chunks[last]))
}

// pieces returns the states between two positions, in one slice per chunk. A position is
// chunk number × chunkSize + offset.
func (sh *shard) pieces(from, to uint32) [][]byte {
	var all [][]byte
	for from < to {
		chunk := sh.chunks[from/chunkSize]
		piece := chunk[from%chunkSize:]
		if from/chunkSize == to/chunkSize {
			piece = chunk[from%chunkSize : to%chunkSize]
		}
		if len(piece) > 0 {
			all = append(all, piece)
		}
		from = (from/chunkSize + 1) * chunkSize
	}
	return all
}

// bytes returns the memory of the store. Workers may add states meanwhile, so it locks one shard
// after the other.
func (st *store) bytes() int64 {
	var n int64
	for i := range st.shards {
		sh := &st.shards[i]
		sh.mu.Lock()
		n += int64(8*len(sh.slots) + 8*cap(sh.ends))
		for _, c := range sh.chunks {
			n += int64(cap(c))
		}
		sh.mu.Unlock()
	}
	return n
}
