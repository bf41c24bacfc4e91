package embedded

import (
	mathbits "math/bits"
	"sort"

	"leasehold/shared/code/match"
	"leasehold/shared/code/segment"
)

// numbers is a set of chunks or blobs: all of a segment, or those of an ascending list.
type numbers struct {
	list []uint32 // unused if all
	all  bool
}

var everything = numbers{all: true}

// and returns the numbers that are in a and in b. It changes neither.
func (a numbers) and(b numbers) numbers {
	switch {
	case a.all:
		return b
	case b.all:
		return a
	}
	return numbers{list: segment.Intersect(append([]uint32(nil), a.list...), b.list)}
}

// or returns the numbers that are in a or in b. The result may share their memory.
func (a numbers) or(b numbers) numbers {
	if a.all || b.all {
		return everything
	}
	return numbers{list: segment.Unite(a.list, b.list)}
}

// has reports whether a number from first up to end, without it, is in a.
func (a numbers) has(first, end int) bool {
	if a.all {
		return first < end
	}
	i := a.indexOf(first)
	return i < len(a.list) && int(a.list[i]) < end
}

// count returns how many of n numbers are in a.
func (a numbers) count(n int) int {
	if a.all {
		return n
	}
	return len(a.list)
}

// indexOf returns the index in the list of the first number of at least n, or the length of the
// list if all are less.
func (a numbers) indexOf(n int) int {
	return sort.Search(len(a.list), func(i int) bool { return int(a.list[i]) >= n })
}

// chunks returns the chunks that may have a line with all of a need.
func (p *part) chunks(n match.Need) numbers {
	return combine(n, func(text []byte) numbers {
		list, all := p.Candidates(text)
		return numbers{list, all}
	})
}

// blobs returns the blobs that may have lines with all of a need together.
func (p *part) blobs(n match.Need) numbers {
	return combine(n, func(text []byte) numbers {
		list, all := p.Candidates(text)
		return p.blobsOf(numbers{list, all})
	})
}

// combine returns the chunks or blobs that may have what n requires; literal returns those that may
// have a text. It returns everything for an unknown need (match.Any).
func combine(n match.Need, literal func([]byte) numbers) numbers {
	switch n.Op {
	case match.Literal:
		return literal(n.Text)
	case match.And:
		found := everything
		for _, sub := range n.Of {
			found = found.and(combine(sub, literal))
			if !found.all && len(found.list) == 0 {
				break // the other needs cannot add any
			}
		}
		return found
	case match.Or:
		return uniteAll(n.Of, literal)
	}
	return everything
}

// fewLists is up to how many lists uniteAll unites one after the other, which copies the
// result for each of them.
const fewLists = 4

// uniteAll returns the numbers that at least one of needs may have. From the fifth need on it
// collects them in a bit set, because uniting hundreds of lists one by one takes too long.
func uniteAll(needs []match.Need, literal func([]byte) numbers) numbers {
	found := numbers{}
	var set []uint64
	for i, need := range needs {
		some := combine(need, literal)
		switch {
		case some.all:
			return everything
		case i < fewLists:
			found = found.or(some)
			continue
		}
		for _, n := range some.list {
			for int(n/64) >= len(set) {
				set = append(set, 0)
			}
			set[n/64] |= 1 << (n % 64)
		}
	}
	var list []uint32
	for i, word := range set {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint32(64*i+mathbits.TrailingZeros64(word)))
		}
	}
	return found.or(numbers{list: list})
}

// blobsOf returns the blobs that have these chunks, each once. The chunks of a blob follow each
// other; blobs without text have none, so the last blob that begins at or before a chunk has it.
func (p *part) blobsOf(chunks numbers) numbers {
	if chunks.all {
		return everything
	}
	var blobs []uint32
	end := 0 // the chunk after those of the last blob found
	for _, c := range chunks.list {
		if int(c) < end {
			continue // a chunk of the same blob
		}
		after := sort.Search(p.Blobs(), func(i int) bool { first, _ := p.ChunksOf(i); return first > int(c) })
		blob := after - 1 // after is at least 1, because blob 0 begins at chunk 0
		_, end = p.ChunksOf(blob)
		blobs = append(blobs, uint32(blob))
	}
	return numbers{list: blobs}
}
