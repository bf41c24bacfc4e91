package embedded

import (
	mathbits "math/bits"
	"sort"

	"leasehold/shared/codesearch/match"
	"leasehold/shared/codesearch/segment"
)

// numbers is an ascending list of chunks or blobs, or all of them.
type numbers struct {
	list []uint32
	all  bool
}

var everything = numbers{all: true}

func (a numbers) and(b numbers) numbers {
	switch {
	case a.all:
		return b
	case b.all:
		return a
	}
	return numbers{list: segment.Intersect(append([]uint32(nil), a.list...), b.list)}
}

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
	i := a.from(first)
	return i < len(a.list) && int(a.list[i]) < end
}

// from returns the place of the first number of the list that is at least n.
func (a numbers) from(n int) int {
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

func combine(n match.Need, literal func([]byte) numbers) numbers {
	switch n.Op {
	case match.Literal:
		return literal(n.Text)
	case match.And:
		found := everything
		for _, sub := range n.Of {
			if found = found.and(combine(sub, literal)); !found.all && len(found.list) == 0 {
				break
			}
		}
		return found
	case match.Or:
		return oneOf(n.Of, literal)
	}
	return everything
}

// fewLists is up to how many lists are united one after the other, which reads the result
// again for each of them.
const fewLists = 4

// oneOf returns the numbers of at least one of needs.
func oneOf(needs []match.Need, literal func([]byte) numbers) numbers {
	found := numbers{}
	var bits []uint64
	for i, sub := range needs {
		of := combine(sub, literal)
		switch {
		case of.all:
			return everything
		case i < fewLists:
			found = found.or(of)
			continue
		}
		for _, n := range of.list {
			for int(n/64) >= len(bits) {
				bits = append(bits, 0)
			}
			bits[n/64] |= 1 << (n % 64)
		}
	}
	var list []uint32
	for i, word := range bits {
		for ; word != 0; word &= word - 1 {
			list = append(list, uint32(64*i+mathbits.TrailingZeros64(word)))
		}
	}
	return found.or(numbers{list: list})
}

// blobsOf returns the blobs that have these chunks.
func (p *part) blobsOf(chunks numbers) numbers {
	if chunks.all {
		return everything
	}
	var blobs []uint32
	end := 0 // chunk after the last blob found
	for _, c := range chunks.list {
		if int(c) < end {
			continue
		}
		after := sort.Search(p.Blobs(), func(i int) bool { first, _ := p.ChunksOf(i); return first > int(c) })
		// Blobs without text have no chunk: the last blob that begins at or before c has it.
		blob := after - 1
		_, end = p.ChunksOf(blob)
		blobs = append(blobs, uint32(blob))
	}
	return numbers{list: blobs}
}
