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

	"leasehold/shared/code"
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
	checked    []atomic.Uint32 // a bit for each chunk whose checksum was found right
	unmap      func() error
}

// Decode opens a segment in memory; name is its name in errors. It fails with fault.ErrCorrupt if
// data is not a segment or is damaged; the texts are checked when they are read.
func Decode(name string, data []byte) (*Segment, error) {
	s := &Segment{name: name, data: data, unmap: func() error { return nil }}
	if err := s.decode(); err != nil {
		return nil, fmt.Errorf("segment %s: %w", name, err)
	}
	return s, nil
}

// decode finds the sections in s.data and checks them. The text is not read here, because it may be
// large: checkSum checks each chunk when it is read first.
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

// checkRecords checks the lengths and references that other methods rely on, so that these need not
// check them. Checksums find damage; this finds files that another program wrote.
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
		if !s.recordInRange(i) {
			return corrupt("the record of blob %d is out of range", i)
		}
		first, end := s.ChunksOf(i)
		if err := s.checkChunks(first, end, s.record(i).text); err != nil {
			return err
		}
	}
	if n := s.Blobs(); n == 0 && s.Chunks() > 0 {
		return corrupt("chunks of no blob")
	}
	return nil
}

// recordInRange reports whether the record of blob i names only chunks, strings and facts that the
// segment has. A blob without text has no chunk, and others at least one; blob 0 begins at chunk 0.
func (s *Segment) recordInRange(i int) bool {
	first, end := s.ChunksOf(i)
	r := s.record(i)
	ownChunks := first <= end && end <= s.Chunks() && (first < end) == (r.text > 0) && (i > 0 || first == 0)
	return ownChunks && r.lang < len(s.strings) && r.reason < len(s.strings) && r.facts <= len(s.parts[sectionFacts]) && s.blobInOrder(i) < s.Blobs()
}

// checkChunks checks the records of the chunks from first up to end of a blob with text bytes: they
// are within the text section, the first begins at 0, and each begins after the one before.
func (s *Segment) checkChunks(first, end, text int) error {
	before := -1
	for c := first; c < end; c++ {
		from, to, start := s.chunkSpan(c)
		if from > to || to > len(s.parts[sectionText]) || start <= before || start >= text || c == first && start != 0 {
			return corrupt("the record of chunk %d is out of range", c)
		}
		before = start
		if !s.compressed && to-from != s.chunkEnd(c, end, text)-start {
			return corrupt("chunk %d has %d bytes in its record and %d in the file", c, s.chunkEnd(c, end, text)-start, to-from)
		}
	}
	return nil
}

// ascending reports whether no number of data is less than the one before it, and the last one
// is last. No numbers ascend to 0.
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

// Size returns the size of the file in bytes, and how many of them are symbols and reports.
func (s *Segment) Size() (bytes, symbols int) {
	return len(s.data), len(s.parts[sectionFacts]) + len(s.parts[sectionNames]) + len(s.parts[sectionNameEnds]) + len(s.parts[sectionNameBlobs]) + len(s.parts[sectionNameLists])
}

// Blobs returns the number of blobs.
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
	chunk        int // the first one
	facts        int // where they begin in sectionFacts
	text         int // bytes
	lang, reason int // indices in Segment.strings; the reason is "" if the blob is not skipped
	flags        byte
}

// record decodes the record of blob i; the comment of blobSize has its fields.
func (s *Segment) record(i int) record {
	r := s.parts[sectionBlobs][i*blobSize+hashSize:]
	u32 := binary.LittleEndian.Uint32
	return record{int(u32(r)), int(u32(r[4:])), int(u32(r[8:])), int(binary.LittleEndian.Uint16(r[12:])), int(binary.LittleEndian.Uint16(r[14:])), r[16]}
}

// blobInOrder returns the number of the i-th blob by object id.
func (s *Segment) blobInOrder(i int) int {
	return int(uint32At(s.parts[sectionOrder], i))
}

// idBytes returns the object id of blob i; one of SHA-1 is followed by zeros.
func (s *Segment) idBytes(i int) []byte { return s.parts[sectionBlobs][i*blobSize:][:hashSize] }

// OID returns the object id of blob i.
func (s *Segment) OID(i int) code.OID {
	id := s.idBytes(i)
	if s.record(i).flags&blobSHA256 == 0 {
		id = id[:20]
	}
	return code.OID(hex.EncodeToString(id))
}

// Find returns the number of the blob with an object id. The result is 0 and false if the
// segment does not have it, or if id is not an object id.
func (s *Segment) Find(id code.OID) (int, bool) {
	var want [hashSize]byte
	if len(id) > 2*hashSize {
		return 0, false
	}
	n, err := hex.Decode(want[:], []byte(id))
	if err != nil {
		return 0, false
	}
	at := sort.Search(s.Blobs(), func(i int) bool { return bytes.Compare(s.idBytes(s.blobInOrder(i)), want[:]) >= 0 })
	// A SHA-256 id that ends in zeros is equal to a SHA-1 id here, so the flag decides.
	for ; at < s.Blobs() && bytes.Equal(s.idBytes(s.blobInOrder(at)), want[:]); at++ {
		if i := s.blobInOrder(at); (s.record(i).flags&blobSHA256 != 0) == (n == hashSize) {
			return i, true
		}
	}
	return 0, false
}

// Lang returns the language of blob i, or "" if it is not known.
func (s *Segment) Lang(i int) string { return s.strings[s.record(i).lang] }

// Skipped returns the reason why blob i is not indexed, or "" if it is indexed.
func (s *Segment) Skipped(i int) string { return s.strings[s.record(i).reason] }

// Generated reports whether blob i was made by a program.
func (s *Segment) Generated(i int) bool { return s.record(i).flags&blobGenerated != 0 }

// Info returns the facts about blob i.
func (s *Segment) Info(i int) code.BlobInfo {
	d := s.facts(i)
	info := d.info()
	info.Lang, info.Skipped, info.Generated = s.Lang(i), s.Skipped(i), s.Generated(i)
	return info
}

// facts returns a decoder at the facts of blob i: info, symbols, functions. They are read in
// this order, because each is found behind the one before.
func (s *Segment) facts(i int) decoder {
	return decoder{data: s.parts[sectionFacts][s.record(i).facts:]}
}

// Symbols calls visit for each symbol of blob i, ordered by line, until it returns false;
// read decodes the symbol.
func (s *Segment) Symbols(i int, visit func(line int, read func() code.Symbol) bool) {
	d := s.facts(i)
	d.info() // precedes the symbols
	d.eachSymbol(visit)
}

// HasSymbols reports whether blob i defines a symbol.
func (s *Segment) HasSymbols(i int) bool {
	d := s.facts(i)
	d.info() // precedes the number of symbols
	return d.number() > 0
}

// Functions returns the reports of blob i.
func (s *Segment) Functions(i int) []code.FunctionReport {
	d := s.facts(i)
	d.info() // precedes the symbols, and these the reports
	d.eachSymbol(func(int, func() code.Symbol) bool { return true })
	return d.functions()
}

// ChunksOf returns the first chunk of blob i, and the one after its last. A blob without text
// has none: first and end are equal.
func (s *Segment) ChunksOf(i int) (first, end int) {
	if i+1 < s.Blobs() {
		return s.record(i).chunk, s.record(i + 1).chunk
	}
	return s.record(i).chunk, s.Chunks()
}

// chunkSpan returns where chunk c is stored in the text section, and at which byte of its blob's
// text it starts.
func (s *Segment) chunkSpan(c int) (from, to, start int) {
	r := s.parts[sectionChunks][c*chunkSize:]
	from, to, start = int(binary.LittleEndian.Uint32(r)), len(s.parts[sectionText]), int(binary.LittleEndian.Uint32(r[4:]))
	if c+1 < s.Chunks() {
		to = int(binary.LittleEndian.Uint32(r[chunkSize:])) // where the next chunk begins
	}
	return from, to, start
}

// firstLine returns the lines of its blob before chunk c.
func (s *Segment) firstLine(c int) int {
	return int(binary.LittleEndian.Uint32(s.parts[sectionChunks][c*chunkSize+8:]))
}

// chunkEnd returns at which byte of its blob chunk c ends. The blob has text bytes, and its
// last chunk is end-1.
func (s *Segment) chunkEnd(c, end, text int) int {
	if c+1 < end {
		_, _, next := s.chunkSpan(c + 1)
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

// Chunk returns chunk c of blob i, which has it; c counts the chunks of all blobs. If the segment
// is compressed, the text is in *buffer, which Chunk enlarges as needed, until the next call with
// it. It fails with fault.ErrCorrupt if the text is damaged.
func (s *Segment) Chunk(i, c int, buffer *[]byte) (Chunk, error) {
	from, to, start := s.chunkSpan(c)
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
	return Chunk{text, start, s.firstLine(c)}, nil
}

// checkSum returns fault.ErrCorrupt if text, the stored chunk c, does not have the checksum of
// its record. It computes that once for each chunk; two calls at the same time may both do so.
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

// unpack decompresses a chunk into *buffer.
func (s *Segment) unpack(packed []byte, want int, buffer *[]byte) ([]byte, error) {
	if n, err := s2.DecodedLen(packed); err != nil || n != want || n > code.MaxBlobBytes {
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

// Text returns the whole text of blob i; nil if it has none. If the segment is compressed, the text
// is in *buffer until the next call with it, otherwise in the mapped file. It fails with
// fault.ErrCorrupt if the text is damaged.
func (s *Segment) Text(i int, buffer *[]byte) ([]byte, error) {
	first, end := s.ChunksOf(i)
	if first == end {
		return nil, nil
	}
	if !s.compressed {
		for c := first; c < end; c++ {
			from, to, _ := s.chunkSpan(c)
			if err := s.checkSum(c, s.parts[sectionText][from:to]); err != nil {
				return nil, err
			}
		}
		from, _, _ := s.chunkSpan(first)
		return s.parts[sectionText][from:][:s.record(i).text], nil // chunks follow each other
	}
	if n := s.record(i).text; cap(*buffer) < n {
		*buffer = make([]byte, min(n, code.MaxBlobBytes)) // a file of another program may have any n
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
