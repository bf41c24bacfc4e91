package segment

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"leasehold/shared/fault"
)

// A file is the magic number, the sections, the footer and the magic number again. The
// footer has the place, length and checksum of each section, flags and its own checksum.
// Numbers are little-endian.
const (
	magic       = "LHCSEG\x00\x01" // its last byte is the format
	sectionSize = 20               // in the footer: offset, length, checksum
	footerSize  = sections*sectionSize + 8

	flagCompressed = 1
)

// The sections of a file, in their order.
const (
	sectionText      = iota // the chunks of all blobs
	sectionPostings         // lists of chunks
	sectionTrigrams         // uint32 each, ascending
	sectionLists            // the end of each trigram's list in sectionPostings
	sectionBlobs            // a record for each blob
	sectionOrder            // the numbers of the blobs, ordered by object id
	sectionChunks           // a record for each chunk
	sectionStrings          // languages and reasons
	sectionFacts            // sizes, symbols and reports of each blob
	sectionNames            // names of symbols, ascending, each with a line feed
	sectionNameEnds         // the end of each name in sectionNames
	sectionNameBlobs        // lists of blobs
	sectionNameLists        // the end of each name's list in sectionNameBlobs
	sectionReplaces         // SHA-256 of the segments that were merged into this one
	sections
)

// Record sizes.
const (
	blobSize  = 52 // object id, first chunk, facts, text bytes, language, reason, flags, 3 bytes of 0
	chunkSize = 16 // offset in the section, offset in the blob, first line, checksum
	hashSize  = 32
)

// Flags of a blob.
const (
	blobSHA256 = 1 << iota
	blobGenerated
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A section is the place of a part of the file, and its CRC-32C.
type section struct {
	offset, length uint64
	sum            uint32
}

// writer writes the sections of a file one after the other.
type writer struct {
	out      *bufio.Writer
	offset   uint64
	sum      uint32
	sections []section
	err      error // the first one; later writes do nothing
}

// newWriter writes the magic number, and begins the first section.
func newWriter(w io.Writer) *writer {
	o := &writer{out: bufio.NewWriterSize(w, 64<<10)}
	o.write([]byte(magic))
	o.beginSection()
	return o
}

func (o *writer) beginSection() {
	o.sections, o.sum = append(o.sections, section{offset: o.offset}), 0
}

// write adds data to the current section. A file has at most 4 GiB, because offsets of chunks
// have 32 bits; more sets err to fault.ErrTooLarge.
func (o *writer) write(data []byte) {
	if o.err == nil {
		_, o.err = o.out.Write(data)
		o.offset += uint64(len(data))
		o.sum = crc32.Update(o.sum, castagnoli, data)
	}
	if o.offset > math.MaxUint32 && o.err == nil {
		o.err = fmt.Errorf("segment of more than 4 GiB: %w", fault.ErrTooLarge)
	}
}

// endSection ends the current section and begins the next one.
func (o *writer) endSection() {
	s := &o.sections[len(o.sections)-1]
	s.length, s.sum = o.offset-s.offset, o.sum
	o.beginSection()
}

// writeSection writes data as one section.
func (o *writer) writeSection(data []byte) {
	o.write(data)
	o.endSection()
}

// writeFooter writes the footer and flushes the file. The error is the first one of all writes.
func (o *writer) writeFooter(flags uint32) error {
	footer := make([]byte, 0, footerSize)
	for _, s := range o.sections[:sections] { // without the one that endSection began last
		footer = binary.LittleEndian.AppendUint64(footer, s.offset)
		footer = binary.LittleEndian.AppendUint64(footer, s.length)
		footer = binary.LittleEndian.AppendUint32(footer, s.sum)
	}
	footer = binary.LittleEndian.AppendUint32(footer, flags)
	footer = binary.LittleEndian.AppendUint32(footer, crc32.Checksum(footer, castagnoli))
	o.write(footer)
	o.write([]byte(magic))
	if o.err != nil {
		return o.err
	}
	return o.out.Flush()
}

func corrupt(format string, arguments ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, arguments...), fault.ErrCorrupt)
}

// checkMagic names the format of a file that has another one.
func checkMagic(data []byte) error {
	const format = len(magic) - 1
	switch {
	case len(data) < len(magic) || string(data[:format]) != magic[:format]:
		return corrupt("not a segment")
	case data[format] != magic[format]:
		return corrupt("it has format %d, this program reads format %d", data[format], magic[format])
	}
	return nil
}

// readFooter returns the sections and flags of a file. The sections must follow each other without
// a gap from the magic number to the footer. It checks the checksum of the footer, not those of the
// sections.
func readFooter(data []byte) ([]section, uint32, error) {
	if err := checkMagic(data); err != nil {
		return nil, 0, err
	}
	if len(data) < footerSize+2*len(magic) || string(data[len(data)-len(magic):]) != magic {
		return nil, 0, corrupt("the file ends early")
	}
	end := len(data) - len(magic) - footerSize
	footer := data[end : end+footerSize]
	if crc32.Checksum(footer[:footerSize-4], castagnoli) != binary.LittleEndian.Uint32(footer[footerSize-4:]) {
		return nil, 0, corrupt("the checksum of the footer is wrong")
	}
	all := make([]section, sections)
	at := uint64(len(magic))
	for i := range all {
		f := footer[i*sectionSize:]
		all[i] = section{binary.LittleEndian.Uint64(f), binary.LittleEndian.Uint64(f[8:]), binary.LittleEndian.Uint32(f[16:])}
		if all[i].offset != at || all[i].length > uint64(end)-at {
			return nil, 0, corrupt("section %d is outside of the file", i)
		}
		at += all[i].length
	}
	if at != uint64(end) {
		return nil, 0, corrupt("%d bytes belong to no section", uint64(end)-at)
	}
	return all, binary.LittleEndian.Uint32(footer[footerSize-8:]), nil
}
