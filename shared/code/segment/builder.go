package segment

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/klauspost/compress/s2"

	"leasehold/shared/code"
	"leasehold/shared/fault"
)

// Options are how a segment is written.
type Options struct {
	Compress bool // S2: about half the size, and a search that takes about twice the time
}

// A Builder writes one segment. It is for one goroutine. It keeps no text, but the
// postings, symbols and records: a third to a half of the text's size, and 20 MiB for
// sorting.
type Builder struct {
	options  Options
	out      *writer
	postings *postings
	whole    Trigrams // counts those of one large blob
	packed   []byte   // buffer for a compressed chunk

	blobs, chunks, facts []byte              // sections as they are stored
	oids                 [][hashSize]byte    // by blob; also the number of blobs added
	strings              map[string]uint16   // indices in stringList
	stringList           []string            // languages and reasons, each once
	names                map[string][]uint32 // blobs by the symbols that they define
	textBytes            int64
}

// NewBuilder returns a builder that writes to w.
func NewBuilder(w io.Writer, o Options) *Builder {
	return &Builder{options: o, out: newWriter(w), postings: newPostings(), strings: map[string]uint16{}, names: map[string][]uint32{}}
}

// Blobs returns how many blobs were added.
func (b *Builder) Blobs() int { return len(b.oids) }

// TextBytes returns the size of the text of all blobs added.
func (b *Builder) TextBytes() int64 { return b.textBytes }

// Add writes a blob. A blob past a limit is recorded as skipped, without text. The caller adds
// each object id once. The builder does not keep blob's memory. After an error, the caller
// does not use the builder further.
func (b *Builder) Add(blob code.Blob) error {
	blob, err := Kept(blob, &b.whole)
	if err != nil {
		return err
	}
	number, first := uint32(len(b.oids)), uint32(len(b.chunks)/chunkSize)
	b.addText(blob.Content)
	for _, s := range blob.Symbols {
		b.addName(number, s.Name)
	}
	if err := b.addRecord(blob, first, len(blob.Content)); err != nil {
		return err
	}
	b.facts = appendFacts(b.facts, blob)
	return b.out.err
}

// addText divides the text of a blob into chunks, writes them, and adds their trigrams.
func (b *Builder) addText(text []byte) {
	size := chunkBytes
	if b.options.Compress {
		size = compressedChunkBytes
	}
	line := 0
	for at := 0; at < len(text); {
		chunk := text[at : at+nextChunk(text[at:], size)]
		b.postings.addChunk(uint32(len(b.chunks)/chunkSize), chunk)
		stored := chunk
		if b.options.Compress {
			b.packed = s2.Encode(b.packed[:cap(b.packed)], chunk)
			stored = b.packed
		}
		b.addChunk(stored, at, line)
		line += bytes.Count(chunk, []byte("\n"))
		at += len(chunk)
	}
	b.textBytes += int64(len(text))
}

// addChunk writes a chunk as it is stored, and its record; at and line are the bytes and lines
// of the blob before it. The text is the first section, so its offset is that after the magic.
func (b *Builder) addChunk(stored []byte, at, line int) {
	for _, n := range []uint32{uint32(b.out.offset) - uint32(len(magic)), uint32(at), uint32(line), crc32.Checksum(stored, castagnoli)} {
		b.chunks = binary.LittleEndian.AppendUint32(b.chunks, n)
	}
	b.out.write(stored)
}

// addName records that blob number defines a symbol with this name. Blobs come in ascending
// order, so comparing with the last one keeps each once.
func (b *Builder) addName(number uint32, name string) {
	list := b.names[name]
	if len(list) == 0 || list[len(list)-1] != number {
		b.names[strings.Clone(name)] = append(list, number)
	}
}

// addRecord appends the record of a blob with text bytes in the chunks from first on; its facts
// follow.
func (b *Builder) addRecord(blob code.Blob, first uint32, text int) error {
	var id [hashSize]byte
	flags := byte(flag(blob.Generated)) * blobGenerated
	if n, err := hex.Decode(id[:], []byte(blob.OID)); err != nil {
		return err
	} else if n == hashSize {
		flags |= blobSHA256
	}
	lang, err := b.stringNumber(blob.Lang)
	if err != nil {
		return err
	}
	reason, err := b.stringNumber(blob.Skipped)
	if err != nil {
		return err
	}
	b.oids = append(b.oids, id)
	b.blobs = append(b.blobs, id[:]...)
	for _, n := range []uint32{first, uint32(len(b.facts)), uint32(text)} {
		b.blobs = binary.LittleEndian.AppendUint32(b.blobs, n)
	}
	b.blobs = binary.LittleEndian.AppendUint16(b.blobs, lang)
	b.blobs = binary.LittleEndian.AppendUint16(b.blobs, reason)
	b.blobs = append(b.blobs, flags, 0, 0, 0)
	return nil
}

// stringNumber returns the index of a language or reason in stringList, and adds it if it is new.
// It cuts text to maxName bytes.
func (b *Builder) stringNumber(text string) (uint16, error) {
	text = text[:min(len(text), maxName)]
	n, ok := b.strings[text]
	if ok {
		return n, nil
	}
	if len(b.stringList) > math.MaxUint16 {
		return 0, fmt.Errorf("more than %d languages and reasons: %w", len(b.stringList), fault.ErrTooLarge)
	}
	n = uint16(len(b.stringList))
	b.strings[text], b.stringList = n, append(b.stringList, text)
	return n, nil
}

// Finish writes the rest of the file. It is the last call. The error is the first of writing, also of
// an earlier call.
func (b *Builder) Finish() error { return b.finish(nil, nil) }

// finish writes the sections after the text, in the order of the constants, and the footer. It
// writes the postings of the merged segments, if any, and of this builder; the last section has the
// hashes of the segments that this one replaces. The error is the first one of all writes, which
// b.out keeps.
func (b *Builder) finish(merged []lists, replaces [][hashSize]byte) error {
	b.out.endSection() // the text
	b.postings.flush()
	for i := range b.postings.runs {
		merged = append(merged, &b.postings.runs[i])
	}
	trigrams, ends := writeLists(b.out, merged)
	b.out.writeSection(trigrams)
	b.out.writeSection(ends)
	b.out.writeSection(b.blobs)
	b.out.writeSection(b.encodeOrder())
	b.out.writeSection(b.chunks)
	b.out.writeSection(b.encodeStrings())
	b.out.writeSection(b.facts)
	b.writeNames()
	for _, hash := range replaces {
		b.out.write(hash[:])
	}
	b.out.endSection()
	flags := uint32(0)
	if b.options.Compress {
		flags = flagCompressed
	}
	return b.out.writeFooter(flags)
}

// encodeOrder returns the numbers of the blobs, ordered by object id.
func (b *Builder) encodeOrder() []byte {
	order := make([]uint32, len(b.oids))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return bytes.Compare(b.oids[x][:], b.oids[y][:]) })
	return encode32(order)
}

// encode32 returns the numbers as little-endian 32-bit numbers.
func encode32(numbers []uint32) []byte {
	data := make([]byte, 0, 4*len(numbers))
	for _, n := range numbers {
		data = binary.LittleEndian.AppendUint32(data, n)
	}
	return data
}

// encodeStrings returns the section of strings, in the order of their numbers.
func (b *Builder) encodeStrings() []byte {
	var data []byte
	for _, text := range b.stringList {
		data = appendText(data, text)
	}
	return data
}

// writeNames writes the names of symbols and the blobs that define them.
func (b *Builder) writeNames() {
	var names, lists []byte
	var nameEnds, listEnds []uint32
	for _, name := range slices.Sorted(maps.Keys(b.names)) {
		names = append(append(names, name...), '\n')
		nameEnds = append(nameEnds, uint32(len(names)))
		lists = appendList(lists, b.names[name])
		listEnds = append(listEnds, uint32(len(lists)))
	}
	b.out.writeSection(names)
	b.out.writeSection(encode32(nameEnds))
	b.out.writeSection(lists)
	b.out.writeSection(encode32(listEnds))
}
