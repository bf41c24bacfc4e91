package segment

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// list returns the encoded chunks of a trigram; empty if no chunk has it.
func (s *Segment) list(trigram uint32) []byte {
	keys := s.parts[sectionTrigrams]
	i := sort.Search(len(keys)/4, func(i int) bool { return binary.LittleEndian.Uint32(keys[4*i:]) >= trigram })
	if 4*i == len(keys) || binary.LittleEndian.Uint32(keys[4*i:]) != trigram {
		return nil
	}
	from, to := span(s.parts[sectionLists], i)
	return s.parts[sectionPostings][from:to]
}

// span returns the i-th part of a section whose parts end at ends.
func span(ends []byte, i int) (from, to int) {
	if i > 0 {
		from = int(binary.LittleEndian.Uint32(ends[4*(i-1):]))
	}
	return from, int(binary.LittleEndian.Uint32(ends[4*i:]))
}

// readingCost is how many bytes of a list are as fast to read as one chunk is to search.
const readingCost = 300

// Candidates returns the chunks that may have text in a line, ascending; folded is
// text after codesearch.Fold, without line feeds. All is true if the text is too short for
// the index: then any chunk may have it.
func (s *Segment) Candidates(folded []byte) (chunks []uint32, all bool) {
	if len(folded) < 3 {
		return nil, true
	}
	var lists [][]byte
	for i := range len(folded) - 2 {
		l := s.list(uint32(folded[i])<<16 | uint32(folded[i+1])<<8 | uint32(folded[i+2]))
		if len(l) == 0 {
			return nil, false
		}
		lists = append(lists, l)
	}
	slices.SortFunc(lists, func(a, b []byte) int { return cmp.Compare(len(a), len(b)) })
	chunks = s.inRange(decodeList(nil, lists[0]))
	var other []uint32
	for _, l := range lists[1:] {
		if len(l) > readingCost*len(chunks) {
			break
		}
		other = decodeList(other[:0], l)
		chunks = Intersect(chunks, other)
	}
	return chunks, false
}

// inRange removes numbers that are not those of chunks or not ascending, which only a
// file that something else wrote has.
func (s *Segment) inRange(chunks []uint32) []uint32 {
	n := s.Chunks()
	for i, c := range chunks {
		if int(c) >= n || i > 0 && c <= chunks[i-1] {
			return chunks[:i]
		}
	}
	return chunks
}

// Intersect returns the numbers that both ascending lists have, in the memory of a.
func Intersect(a, b []uint32) []uint32 {
	both := a[:0]
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both = append(both, a[i])
			i++
			j++
		}
	}
	return both
}

// Unite returns the numbers that one of two ascending lists has.
func Unite(a, b []uint32) []uint32 {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	all := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		n := min(a[0], b[0])
		all = append(all, n)
		if a[0] == n {
			a = a[1:]
		}
		if len(b) > 0 && b[0] == n {
			b = b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// DefiningExactly calls visit with the blobs that define a symbol with this name, if any do.
func (s *Segment) DefiningExactly(name string, visit func(blobs []uint32)) {
	text, ends := s.parts[sectionNames], s.parts[sectionNameEnds]
	at := func(i int) string {
		from, to := span(ends, i)
		return string(bytes.TrimSuffix(text[from:to], []byte("\n")))
	}
	n := len(ends) / 4
	if i := sort.Search(n, func(i int) bool { return at(i) >= name }); i < n && at(i) == name {
		visit(s.definedBy(i))
	}
}

// definedBy returns the blobs that define the i-th name.
func (s *Segment) definedBy(i int) []uint32 {
	from, to := span(s.parts[sectionNameLists], i)
	blobs := decodeList(nil, s.parts[sectionNameBlobs][from:to])
	return slices.DeleteFunc(blobs, func(b uint32) bool { return int(b) >= s.Blobs() })
}

// Defining calls visit with each name of a symbol for which matches holds, in ascending
// order, and the blobs that define it. If literal is not empty, matches holds for no name
// without it, and only names with it are tried.
func (s *Segment) Defining(literal string, matches func(name []byte) bool, visit func(name []byte, blobs []uint32) bool) {
	text, ends := s.parts[sectionNames], s.parts[sectionNameEnds]
	for i := 0; i < len(ends)/4; i++ {
		if literal != "" {
			from, _ := span(ends, i)
			at := bytes.Index(text[from:], []byte(literal))
			if at < 0 {
				return
			}
			end := uint32(from + at)
			i += sort.Search(len(ends)/4-i, func(j int) bool { return binary.LittleEndian.Uint32(ends[4*(i+j):]) > end })
		}
		from, to := span(ends, i)
		if name := bytes.TrimSuffix(text[from:to], []byte("\n")); matches(name) {
			if !visit(name, s.definedBy(i)) {
				return
			}
		}
	}
}
