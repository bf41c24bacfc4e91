package segment

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// list returns the encoded chunks of a trigram; empty if no chunk has it. The trigrams of a segment
// are sorted. The bytes come from the mapped file.
func (s *Segment) list(trigram uint32) []byte {
	keys := s.parts[sectionTrigrams]
	i := sort.Search(len(keys)/4, func(i int) bool { return binary.LittleEndian.Uint32(keys[4*i:]) >= trigram })
	if 4*i == len(keys) || binary.LittleEndian.Uint32(keys[4*i:]) != trigram {
		return nil
	}
	from, to := span(s.parts[sectionLists], i)
	return s.parts[sectionPostings][from:to]
}

// span returns where part i of a section begins and ends. Parts follow each other; ends has
// the end of each as a uint32.
func span(ends []byte, i int) (from, to int) {
	if i > 0 {
		from = int(binary.LittleEndian.Uint32(ends[4*(i-1):]))
	}
	return from, int(binary.LittleEndian.Uint32(ends[4*i:]))
}

// readingCost is how many bytes of a list take as long to read as one chunk takes to search.
const readingCost = 300

// Candidates returns the chunks that may have text in a line, ascending; folded is
// text after code.Fold, without line feeds. The chunks that it leaves out do not have
// the text. all is true if the text has less than three bytes: then any chunk may have it, and
// chunks is nil.
func (s *Segment) Candidates(folded []byte) (chunks []uint32, all bool) {
	if len(folded) < 3 {
		return nil, true
	}
	var lists [][]byte
	for i := range len(folded) - 2 {
		l := s.list(uint32(folded[i])<<16 | uint32(folded[i+1])<<8 | uint32(folded[i+2]))
		if len(l) == 0 {
			return nil, false // no chunk has this trigram
		}
		lists = append(lists, l)
	}
	slices.SortFunc(lists, func(a, b []byte) int { return cmp.Compare(len(a), len(b)) })
	chunks = s.inRange(decodeList(nil, lists[0]))
	var other []uint32
	for _, l := range lists[1:] {
		if len(l) > readingCost*len(chunks) {
			break // searching the chunks takes less time than reading the longer lists
		}
		other = decodeList(other[:0], l)
		chunks = Intersect(chunks, other)
	}
	return chunks, false
}

// inRange cuts chunks at the first number beyond the chunks of s, or not greater than the one
// before it. Only a file that another program wrote has such a number.
func (s *Segment) inRange(chunks []uint32) []uint32 {
	n := s.Chunks()
	for i, c := range chunks {
		if int(c) >= n || i > 0 && c <= chunks[i-1] {
			return chunks[:i]
		}
	}
	return chunks
}

// Intersect returns the numbers that both ascending lists have, in the memory of a, which is
// lost.
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

// Unite returns the numbers that at least one of two ascending lists has, each once. If one
// is empty, the result is the other one itself.
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

// DefiningExactly returns the blobs that define a symbol with this name, and nil if none does.
func (s *Segment) DefiningExactly(name string) []uint32 {
	text, ends := s.parts[sectionNames], s.parts[sectionNameEnds]
	at := func(i int) string {
		from, to := span(ends, i)
		return string(bytes.TrimSuffix(text[from:to], []byte("\n")))
	}
	n := len(ends) / 4
	if i := sort.Search(n, func(i int) bool { return at(i) >= name }); i < n && at(i) == name {
		return s.definedBy(i)
	}
	return nil
}

// definedBy returns the blobs that define the i-th name. It leaves out numbers that are not
// blobs, which only a file that another program wrote has.
func (s *Segment) definedBy(i int) []uint32 {
	from, to := span(s.parts[sectionNameLists], i)
	blobs := decodeList(nil, s.parts[sectionNameBlobs][from:to])
	return slices.DeleteFunc(blobs, func(b uint32) bool { return int(b) >= s.Blobs() })
}

// Defining calls visit with each name of a symbol for which matches returns true, in ascending
// order, and the blobs that define it, until visit returns false. Each matching name contains the
// literal, unless it is empty; Defining then searches all names for it at once, and calls matches
// only for those that contain it.
func (s *Segment) Defining(literal string, matches func(name []byte) bool, visit func(name []byte, blobs []uint32) bool) {
	text, ends := s.parts[sectionNames], s.parts[sectionNameEnds]
	for i := 0; i < len(ends)/4; i++ {
		if literal != "" {
			from, _ := span(ends, i)
			at := bytes.Index(text[from:], []byte(literal))
			if at < 0 {
				return
			}
			found := uint32(from + at) // in the first name that ends after it
			i += sort.Search(len(ends)/4-i, func(j int) bool { return binary.LittleEndian.Uint32(ends[4*(i+j):]) > found })
		}
		from, to := span(ends, i)
		if name := bytes.TrimSuffix(text[from:to], []byte("\n")); matches(name) {
			if !visit(name, s.definedBy(i)) {
				return
			}
		}
	}
}
