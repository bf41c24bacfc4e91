package segment

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// dropped stands for the new number of a chunk not kept.
const dropped = math.MaxUint32

// Merge writes one segment to w with the blobs of all for which keep returns true, and records that
// it replaces the ones named replaces (SHA-256, hexadecimal). keep gets the index of a segment in
// all and the number of a blob in it. Text is copied as it is stored, and postings are renumbered;
// so all segments must be compressed or none. Each object id must be kept once. Merge calls stopped
// before each blob, and returns its error if it is not nil. It fails with fault.ErrInvalid for a
// mix of segments.
func Merge(w io.Writer, all []*Segment, keep func(segment, blob int) bool, replaces []string, stopped func() error) error {
	if len(all) == 0 {
		return fmt.Errorf("merge of no segments: %w", fault.ErrInvalid)
	}
	b := NewBuilder(w, Options{Compress: all[0].compressed})
	var merged []lists
	for n, s := range all {
		if s.compressed != b.options.Compress {
			return fmt.Errorf("segments %s and %s are not compressed alike: %w", all[0].name, s.name, fault.ErrInvalid)
		}
		m := &mergedLists{Segment: s, renumbered: make([]uint32, s.Chunks())}
		for i := range s.Blobs() {
			if err := stopped(); err != nil {
				return err
			}
			if err := b.copyBlob(m, i, keep(n, i)); err != nil {
				return err
			}
		}
		merged = append(merged, m)
	}
	hashes := make([][hashSize]byte, len(replaces))
	for i, name := range replaces {
		if n, err := hex.Decode(hashes[i][:], []byte(name)); err != nil || n != hashSize {
			return fmt.Errorf("segment name %q: want 64 hexadecimal digits: %w", name, fault.ErrInvalid)
		}
	}
	return b.finish(merged, hashes)
}

// mergedLists are the postings of a segment with the numbers that its chunks have in the
// merged one.
type mergedLists struct {
	*Segment
	renumbered []uint32 // dropped if the chunk is not kept
	buffer     []uint32
}

func (m *mergedLists) count() int { return len(m.parts[sectionTrigrams]) / 4 }

func (m *mergedLists) trigram(i int) uint32 {
	return uint32At(m.parts[sectionTrigrams], i)
}

// appendTo appends to dst the new numbers of the chunks that have the i-th trigram and are kept,
// in ascending order, because renumbering keeps the order.
func (m *mergedLists) appendTo(dst []uint32, i int) []uint32 {
	from, to := span(m.parts[sectionLists], i)
	m.buffer = m.inRange(decodeList(m.buffer[:0], m.parts[sectionPostings][from:to]))
	for _, c := range m.buffer {
		if n := m.renumbered[c]; n != dropped {
			dst = append(dst, n)
		}
	}
	return dst
}

// copyBlob copies the chunks, record and facts of blob i of source, and notes the new numbers of
// its chunks. The record has where the facts begin, so it is added before them. If keep is false,
// copyBlob only notes that the chunks are dropped.
func (b *Builder) copyBlob(source *mergedLists, i int, keep bool) error {
	first, end := source.ChunksOf(i)
	number, firstNew := uint32(len(b.oids)), uint32(len(b.chunks)/chunkSize)
	for c := first; c < end; c++ {
		if !keep {
			source.renumbered[c] = dropped
			continue
		}
		from, to, start := source.chunkSpan(c)
		stored := source.parts[sectionText][from:to]
		if err := source.checkSum(c, stored); err != nil {
			return err
		}
		source.renumbered[c] = uint32(len(b.chunks) / chunkSize)
		b.addChunk(stored, start, source.firstLine(c))
	}
	if !keep {
		return nil
	}
	blob := code.Blob{OID: source.OID(i), BlobInfo: source.Info(i), Functions: source.Functions(i)}
	source.Symbols(i, func(_ int, read func() code.Symbol) bool {
		s := read()
		b.addName(number, s.Name)
		blob.Symbols = append(blob.Symbols, s)
		return true
	})
	b.textBytes += int64(source.record(i).text)
	if err := b.addRecord(blob, firstNew, source.record(i).text); err != nil {
		return err
	}
	b.facts = appendFacts(b.facts, blob)
	return b.out.err
}
