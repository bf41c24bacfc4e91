package segment

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/klauspost/compress/s2"

	"leasehold/shared/codesearch"
)

// A Segment is an opened segment. Blobs and chunks are numbered from 0 in the order in
// which they were added. It is safe for concurrent use until it is closed; what its
// methods return as []byte is memory of the file, which ends then.
type Segment struct {
	name       string
	data       []byte
	parts      [sections][]byte
	compressed bool
	strings    []string
	checked    []atomic.Uint32 // a bit for each chunk whose checksum was right
	unmap      func() error
}

// Decode opens a segment that is in memory; name is what errors call it.
func Decode(name string, data []byte) (*Segment, error) {
	s := &Segment{name: name, data: data, unmap: func() error { return nil }}
	if err := s.decode(); err != nil {
		return nil, fmt.Errorf("segment %s: %w", name, err)
	}
	return s, nil
}

func (s *Segment) decode() error {
	all, flags, err := readFooter(s.data)
	if err != nil {
		return err
	}
	s.compressed = flags&flagCompressed != 0
	for i, at := range all {
		s.parts[i] = s.data[at.offset : at.offset+at.length]
		if i != sectionText && crc32.Checksum(s.parts[i], castagnoli) != at.sum {
			return corrupt("the checksum of section %d is wrong", i)
		}
	}
	strings := decoder{data: s.parts[sectionStrings]}
	for len(strings.data) > 0 {
		s.strings = append(s.strings, strings.text())
	}
	if strings.bad {
		return corrupt("the strings end early")
	}
	s.checked = make([]atomic.Uint32, (s.Chunks()+31)/32)
	return s.checkRecords()
}

// checkRecords checks the lengths and references that methods rely on. Checksums find
// damage; this finds files that something else wrote.
func (s *Segment) checkRecords() error {
	for _, want := range []struct {
		section, size int
	}{{sectionTrigrams, 4}, {sectionLists, 4}, {sectionBlobs, blobSize}, {sectionOrder, 4}, {sectionChunks, chunkSize}, {sectionNameEnds, 4}, {sectionNameLists, 4}, {sectionReplaces, hashSize}} {
		if len(s.parts[want.section])%want.size != 0 {
			return corrupt("section %d has %d bytes: want a multiple of %d", want.section, len(s.parts[want.section]), want.size)
		}
	}
	if len(s.parts[sectionOrder])/4 != s.Blobs() || len(s.parts[sectionLists]) != len(s.parts[sectionTrigrams]) || len(s.parts[sectionNameLists]) != len(s.parts[sectionNameEnds]) {
		return corrupt("sections of different lengths")
	}
	for _, ends := range []struct{ of, in int }{{sectionLists, sectionPostings}, {sectionNameEnds, sectionNames}, {sectionNameLists, sectionNameBlobs}} {
		if !ascending(s.parts[ends.of], len(s.parts[ends.in])) {
			return corrupt("section %d is not in order", ends.of)
		}
	}
	for i := range s.Blobs() {
		first, end := s.ChunksOf(i)
		r := s.record(i)
		if first > end || end > s.Chunks() || (r.text > 0) != (first < end) || i == 0 && first != 0 || r.lang >= len(s.strings) || r.reason >= len(s.strings) || r.facts > len(s.parts[sectionFacts]) || s.number(i) >= s.Blobs() {
			return corrupt("the record of blob %d is out of range", i)
		}
		if err := s.checkChunks(first, end, r.text); err != nil {
			return err
		}
	}
	if n := s.Blobs(); n == 0 && s.Chunks() > 0 {
		return corrupt("chunks of no blob")
	}
	return nil
}

// checkChunks checks the records of the chunks of one blob.
func (s *Segment) checkChunks(first, end, text int) error {
	at := -1
	for c := first; c < end; c++ {
		from, to, start := s.stored(c)
		if from > to || to > len(s.parts[sectionText]) || start <= at || start >= text || c == first && start != 0 {
			return corrupt("the record of chunk %d is out of range", c)
		}
		at = start
		if !s.compressed && to-from != s.chunkEnd(c, end, text)-start {
			return corrupt("chunk %d has %d bytes in its record and %d in the file", c, s.chunkEnd(c, end, text)-start, to-from)
		}
	}
	return nil
}

// ascending reports whether the numbers of data ascend up to last, where the last one is.
func ascending(data []byte, last int) bool {
	before := uint32(0)
	for i := 0; i < len(data); i += 4 {
		n := binary.LittleEndian.Uint32(data[i:])
		if n < before {
			return false
		}
		before = n
	}
	return int(before) == last
}

// Compressed reports whether the text is compressed.
func (s *Segment) Compressed() bool { return s.compressed }

// TextBytes returns the size of the text of blob i.
func (s *Segment) TextBytes(i int) int { return s.record(i).text }

// Name returns what errors call the segment: the name of its file.
func (s *Segment) Name() string { return s.name }

// Size returns the size of the file in bytes, and its part that is symbols and reports.
func (s *Segment) Size() (bytes, symbols int) {
	return len(s.data), len(s.parts[sectionFacts]) + len(s.parts[sectionNames]) + len(s.parts[sectionNameEnds]) + len(s.parts[sectionNameBlobs]) + len(s.parts[sectionNameLists])
}

// Blobs returns the number of blobs, and Chunks the number of chunks.
func (s *Segment) Blobs() int { return len(s.parts[sectionBlobs]) / blobSize }

// Chunks returns the number of chunks of all blobs.
func (s *Segment) Chunks() int { return len(s.parts[sectionChunks]) / chunkSize }

// Replaces returns the SHA-256 of the segments that were merged into this one.
func (s *Segment) Replaces() []string {
	var all []string
	for hash := range slices.Chunk(s.parts[sectionReplaces], hashSize) {
		all = append(all, hex.EncodeToString(hash))
	}
	return all
}

// uint32At returns the i-th number of a section.
func uint32At(data []byte, i int) uint32 { return binary.LittleEndian.Uint32(data[4*i:]) }

// record is a blob's record, without its object id.
type record struct {
	chunk, facts, text int
	lang, reason       int
	flags              byte
}

func (s *Segment) record(i int) record {
	r := s.parts[sectionBlobs][i*blobSize+hashSize:]
	u32 := binary.LittleEndian.Uint32
	return record{int(u32(r)), int(u32(r[4:])), int(u32(r[8:])), int(binary.LittleEndian.Uint16(r[12:])), int(binary.LittleEndian.Uint16(r[14:])), r[16]}
}

// number returns the number of the i-th blob by object id.
func (s *Segment) number(i int) int {
	return int(uint32At(s.parts[sectionOrder], i))
}

func (s *Segment) hash(i int) []byte { return s.parts[sectionBlobs][i*blobSize:][:hashSize] }

// OID returns the object id of blob i.
func (s *Segment) OID(i int) codesearch.OID {
	id := s.hash(i)
	if s.record(i).flags&blobSHA256 == 0 {
		id = id[:20]
	}
	return codesearch.OID(hex.EncodeToString(id))
}

// Find returns the number of the blob with an object id, and whether there is one.
func (s *Segment) Find(id codesearch.OID) (int, bool) {
	var want [hashSize]byte
	if len(id) > 2*hashSize {
		return 0, false
	}
	n, err := hex.Decode(want[:], []byte(id))
	if err != nil {
		return 0, false
	}
	at := sort.Search(s.Blobs(), func(i int) bool { return bytes.Compare(s.hash(s.number(i)), want[:]) >= 0 })
	for ; at < s.Blobs() && bytes.Equal(s.hash(s.number(at)), want[:]); at++ {
		if i := s.number(at); (s.record(i).flags&blobSHA256 != 0) == (n == hashSize) {
			return i, true
		}
	}
	return 0, false
}

// Lang returns the language of blob i, and Skipped why it is not indexed, or "".
func (s *Segment) Lang(i int) string { return s.strings[s.record(i).lang] }

// Skipped returns the reason why blob i is not indexed, or "".
func (s *Segment) Skipped(i int) string { return s.strings[s.record(i).reason] }

// Generated reports whether blob i was made by a program.
func (s *Segment) Generated(i int) bool { return s.record(i).flags&blobGenerated != 0 }

// Info returns the facts about blob i.
func (s *Segment) Info(i int) codesearch.BlobInfo {
	d := s.facts(i)
	info := d.info()
	info.Lang, info.Skipped, info.Generated = s.Lang(i), s.Skipped(i), s.Generated(i)
	return info
}

func (s *Segment) facts(i int) decoder {
	return decoder{data: s.parts[sectionFacts][s.record(i).facts:]}
}

// Symbols calls visit for each symbol of blob i, ordered by line, until it returns false;
// read decodes the symbol.
func (s *Segment) Symbols(i int, visit func(line int, read func() codesearch.Symbol) bool) {
	d := s.facts(i)
	d.info()
	d.symbols(visit)
}

// Functions returns the reports of blob i.
func (s *Segment) Functions(i int) []codesearch.FunctionReport {
	d := s.facts(i)
	d.info()
	d.symbols(func(int, func() codesearch.Symbol) bool { return true })
	return d.functions()
}

// ChunksOf returns the first chunk of blob i, and the one after its last.
func (s *Segment) ChunksOf(i int) (first, end int) {
	if i+1 < s.Blobs() {
		return s.record(i).chunk, s.record(i + 1).chunk
	}
	return s.record(i).chunk, s.Chunks()
}

// stored returns where chunk c is in the text section, and in its blob.
func (s *Segment) stored(c int) (from, to, start int) {
	r := s.parts[sectionChunks][c*chunkSize:]
	from, to, start = int(binary.LittleEndian.Uint32(r)), len(s.parts[sectionText]), int(binary.LittleEndian.Uint32(r[4:]))
	if c+1 < s.Chunks() {
		to = int(binary.LittleEndian.Uint32(r[chunkSize:]))
	}
	return from, to, start
}

// chunkEnd returns where chunk c ends in a blob that has text bytes and ends before the
// chunk end.
func (s *Segment) chunkEnd(c, end, text int) int {
	if c+1 < end {
		_, _, next := s.stored(c + 1)
		return next
	}
	return text
}

// A Chunk is the text of a chunk, and where it begins in its blob.
type Chunk struct {
	Text      []byte
	Start     int // bytes of the blob before it
	FirstLine int // lines of the blob before it
}

// Chunk returns chunk c of blob i. It uses buffer for the text if the segment is
// compressed. The error is fault.ErrCorrupt if the text is damaged.
func (s *Segment) Chunk(i, c int, buffer *[]byte) (Chunk, error) {
	from, to, start := s.stored(c)
	line := binary.LittleEndian.Uint32(s.parts[sectionChunks][c*chunkSize+8:])
	text := s.parts[sectionText][from:to]
	if err := s.checkSum(c, text); err != nil {
		return Chunk{}, err
	}
	if s.compressed {
		_, end := s.ChunksOf(i)
		var err error
		if text, err = s.unpack(text, s.chunkEnd(c, end, s.record(i).text)-start, buffer); err != nil {
			return Chunk{}, fmt.Errorf("segment %s: chunk %d: %w", s.name, c, err)
		}
	}
	return Chunk{text, start, int(line)}, nil
}

func (s *Segment) checkSum(c int, text []byte) error {
	bit := uint32(1) << (c % 32)
	if s.checked[c/32].Load()&bit != 0 {
		return nil
	}
	if crc32.Checksum(text, castagnoli) != binary.LittleEndian.Uint32(s.parts[sectionChunks][c*chunkSize+12:]) {
		return fmt.Errorf("segment %s: the checksum of chunk %d is wrong: %w", s.name, c, corrupt("text"))
	}
	s.checked[c/32].Or(bit)
	return nil
}

// unpack decompresses a chunk of want bytes.
func (s *Segment) unpack(packed []byte, want int, buffer *[]byte) ([]byte, error) {
	if n, err := s2.DecodedLen(packed); err != nil || n != want || n > codesearch.MaxBlobBytes {
		return nil, corrupt("compressed text of the wrong length")
	}
	if cap(*buffer) < want {
		*buffer = make([]byte, want)
	}
	text, err := s2.Decode((*buffer)[:want], packed)
	if err != nil {
		return nil, corrupt("%v", err)
	}
	return text, nil
}

// Text returns the whole text of blob i. It uses buffer if the segment is compressed.
func (s *Segment) Text(i int, buffer *[]byte) ([]byte, error) {
	first, end := s.ChunksOf(i)
	if first == end {
		return nil, nil
	}
	if !s.compressed {
		for c := first; c < end; c++ {
			from, to, _ := s.stored(c)
			if err := s.checkSum(c, s.parts[sectionText][from:to]); err != nil {
				return nil, err
			}
		}
		from, _, _ := s.stored(first)
		return s.parts[sectionText][from:][:s.record(i).text], nil
	}
	if n := s.record(i).text; cap(*buffer) < n {
		*buffer = make([]byte, min(n, codesearch.MaxBlobBytes))
	}
	var chunk []byte
	text := (*buffer)[:0]
	for c := first; c < end; c++ {
		part, err := s.Chunk(i, c, &chunk)
		if err != nil {
			return nil, err
		}
		text = append(text, part.Text...)
	}
	*buffer = text
	return text, nil
}
