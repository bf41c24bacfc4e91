package pebble

import (
	"encoding/binary"
	"hash/crc32"
)

// The store's logs are blocks of 32 KiB, in which chunks follow each other; a record is one chunk, or a first, any
// middle ones and a last. A chunk begins with a checksum (4 bytes), the length of its payload (2) and its type (1);
// in a log the number of the log (4) follows. If the rest of a block is too short for a chunk, it is zero.
const (
	blockSize = 32 << 10

	manifestHead = 7 // of a chunk in a manifest
	logHead      = 11
)

// The types of a chunk, full, first, middle and last, begin here.
const (
	manifestFull = 1
	logFull      = 5
	types        = 4
)

// chunk is one well-formed chunk.
type chunk struct {
	first, last bool // of its record
	payload     []byte
	end         int // where the next one begins
}

// log is the content of one log or manifest.
type log struct {
	data []byte
	num  uint32 // of a log
	full byte   // logFull or manifestFull
}

// head returns the size of the head of a chunk; in a log it also has the number of the log.
func (l log) head() int {
	if l.full == manifestFull {
		return manifestHead
	}
	return logHead
}

// chunkAt returns the chunk that begins at an offset, and whether there is one: it fits into its
// block, and its type, the number of its log and its checksum are right.
func (l log) chunkAt(at int) (chunk, bool) {
	end := min(len(l.data), at-at%blockSize+blockSize)
	head := l.data[at:end]
	if len(head) < l.head() {
		return chunk{}, false
	}
	size, kind := int(binary.LittleEndian.Uint16(head[4:])), head[6]
	if kind < l.full || kind >= l.full+types || len(head) < l.head()+size {
		return chunk{}, false
	}
	if l.full == logFull && binary.LittleEndian.Uint32(head[7:]) != l.num {
		return chunk{}, false
	}
	if binary.LittleEndian.Uint32(head) != checksum(head[6:l.head()+size]) {
		return chunk{}, false
	}
	return chunk{
		first: kind-l.full < 2, last: (kind-l.full)%3 == 0, // of full, first, middle, last: 0 to 3
		payload: head[l.head() : l.head()+size], end: at + l.head() + size,
	}, true
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is the one of the store: a CRC-32C, rotated and shifted by a constant as in LevelDB,
// so that the checksum of data with checksums in it is not 0.
func checksum(data []byte) uint32 {
	c := crc32.Checksum(data, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// padding returns where the next block begins, or the data end. It reports whether nothing
// but zeros too few for a chunk are between at and that.
func (l log) padding(at int) (next int, ok bool) {
	next = min(len(l.data), at-at%blockSize+blockSize)
	return next, next-at < l.head() && zero(l.data[at:next])
}

// trailerAt reports whether the log was closed in order at an offset: the store writes the head
// of an empty chunk there, with the number of the next log, and only zeros follow.
func (l log) trailerAt(at int) bool {
	rest := l.data[at:]
	return l.full == logFull && len(rest) >= logHead && zero(rest[:6]) && rest[6] == logFull &&
		binary.LittleEndian.Uint32(rest[7:]) == l.num+1 && zero(rest[logHead:])
}

// recordBehind returns where the first well-formed chunk that begins a record starts, at the offset or behind it, and
// whether there is one. The rest of that record may be damaged.
func (l log) recordBehind(at int) (int, bool) {
	for p := at; p+l.head() <= len(l.data); p++ {
		if kind := l.data[p+6]; kind < l.full || kind >= l.full+types {
			continue
		}
		if c, ok := l.chunkAt(p); ok && c.first {
			return p, true
		}
	}
	return 0, false
}

// zero reports whether all bytes are 0.
func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// original returns the number of the log that l is a copy of, by its first chunk; 0 if it has its
// own number or none.
func (l log) original() uint32 {
	if len(l.data) < logHead {
		return 0
	}
	num := binary.LittleEndian.Uint32(l.data[7:])
	if _, ok := (log{data: l.data, num: num, full: logFull}).chunkAt(0); !ok || num == l.num {
		return 0
	}
	return num
}
