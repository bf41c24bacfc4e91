package segment

import "encoding/binary"

// lists are the postings of some chunks, of a run or of a merged segment: for each of count
// trigrams, in ascending order, the chunks that have it.
type lists interface {
	count() int
	trigram(i int) uint32
	appendTo(dst []uint32, i int) []uint32 // appends the chunks of trigram i
}

func (r *run) count() int           { return len(r.trigrams) }
func (r *run) trigram(i int) uint32 { return r.trigrams[i] }

// appendTo appends the chunks of the i-th trigram; its list begins where the one before ends.
func (r *run) appendTo(dst []uint32, i int) []uint32 {
	from := uint32(0)
	if i > 0 {
		from = r.ends[i-1]
	}
	return decodeList(dst, r.data[from:r.ends[i]])
}

// appendList encodes ascending numbers: the first, then the differences.
func appendList(dst []byte, list []uint32) []byte {
	before := uint32(0)
	for _, n := range list {
		dst = binary.AppendUvarint(dst, uint64(n-before))
		before = n
	}
	return dst
}

// decodeList appends the numbers of a list. Of damaged data it returns fewer, or numbers
// out of range or order; callers check them.
func decodeList(dst []uint32, data []byte) []uint32 {
	n := uint32(0)
	for i := 0; i < len(data); {
		if b := data[i]; b < 0x80 {
			n += uint32(b)
			i++
		} else {
			v, length := binary.Uvarint(data[i:])
			if length <= 0 {
				return dst
			}
			n += uint32(v)
			i += length
		}
		dst = append(dst, n)
	}
	return dst
}

// writeLists merges all into the section of postings, and writes and ends it. The chunks of each
// of all are greater than those of the ones before it, so appending keeps them ascending. It
// returns the sections of trigrams and of the ends of their lists.
func writeLists(out *writer, all []lists) (trigrams, ends []byte) {
	at := make([]int, len(all)) // the next trigram of each
	written := uint32(0)
	var chunks []uint32
	var data []byte
	for {
		least := uint32(allTrigrams)
		for i, l := range all {
			if at[i] < l.count() {
				least = min(least, l.trigram(at[i]))
			}
		}
		if least == allTrigrams { // greater than each trigram: all are written
			out.endSection()
			return trigrams, ends
		}
		chunks = chunks[:0]
		for i, l := range all {
			if at[i] < l.count() && l.trigram(at[i]) == least {
				chunks = l.appendTo(chunks, at[i])
				at[i]++
			}
		}
		if len(chunks) == 0 { // all chunks of a merged segment were removed
			continue
		}
		data = appendList(data[:0], chunks)
		out.write(data)
		written += uint32(len(data))
		trigrams = binary.LittleEndian.AppendUint32(trigrams, least)
		ends = binary.LittleEndian.AppendUint32(ends, written)
	}
}
