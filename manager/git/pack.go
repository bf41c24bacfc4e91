package git

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

// Bounds of a pack.
const (
	maxObject   = 1 << 20  // bytes of one object
	maxInflated = 32 << 20 // of all
)

// The types of the objects that a pack of commits has.
const (
	typeCommit   = 1
	typeOfsDelta = 6
)

var errPack = errors.New("not a pack of commits")

// commitTimes returns when the commits of a pack were made, in its order. Of a truncated
// pack, or one with other objects, it returns the commits before the end or the object.
func commitTimes(content []byte) (times []time.Time) {
	if len(content) < 12 || string(content[:4]) != "PACK" {
		return nil
	}
	p := pack{content: content, at: 12, objects: map[int][]byte{}}
	for range binary.BigEndian.Uint32(content[8:12]) {
		object, err := p.readObject()
		if err != nil {
			break
		}
		if at, ok := commitTime(object); ok {
			times = append(times, at)
		}
	}
	return times
}

// commitTime returns when a commit was made, and reports whether its header has a valid line
// "committer NAME <MAIL> SECONDS ZONE".
func commitTime(object []byte) (time.Time, bool) {
	header, _, _ := bytes.Cut(object, []byte("\n\n"))
	for line := range strings.Lines(string(header)) {
		if words := strings.Fields(line); strings.HasPrefix(line, "committer ") && len(words) > 3 {
			return seconds(words[len(words)-2])
		}
	}
	return time.Time{}, false
}

// seconds parses a time of git, in seconds since 1970 up to the year 9999; ok is false
// for any other text.
func seconds(text string) (time.Time, bool) {
	at, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(at, 0).UTC(), err == nil && at > 0 && at < 253402300800
}

// A pack is read object by object.
type pack struct {
	content  []byte
	at       int            // of the next object
	objects  map[int][]byte // by their offsets
	inflated int
}

// readObject reads an object: a commit, or a delta to an earlier one. The size in its header is not
// needed, because the zlib stream ends by itself. errPack: it is of another kind, malformed or
// too large, or all are too large together.
func (p *pack) readObject() ([]byte, error) {
	begin := p.at
	b, err := p.readByte()
	if err != nil {
		return nil, err
	}
	kind := b >> 4 & 7
	for b >= 0x80 && err == nil { // the size
		b, err = p.readByte()
	}
	var base []byte
	switch {
	case err != nil:
		return nil, err
	case kind == typeOfsDelta:
		back, err := p.readOffset()
		if err != nil {
			return nil, err
		}
		if base = p.objects[begin-back]; base == nil {
			return nil, errPack
		}
	case kind != typeCommit:
		return nil, errPack
	}
	object, err := p.inflate()
	if err == nil && base != nil {
		object, err = applyDelta(base, object)
	}
	if p.inflated += len(object); err != nil || p.inflated > maxInflated {
		return nil, errPack
	}
	p.objects[begin] = object
	return object, nil
}

// readByte reads one byte; errPack: there is none.
func (p *pack) readByte() (byte, error) {
	if p.at >= len(p.content) {
		return 0, errPack
	}
	p.at++
	return p.content[p.at-1], nil
}

// readOffset reads how far before an object its base begins. errPack: the pack ends within the
// number.
func (p *pack) readOffset() (int, error) {
	b, err := p.readByte()
	back := int(b & 0x7f)
	for b >= 0x80 && err == nil && back < len(p.content) {
		b, err = p.readByte()
		back = (back+1)<<7 | int(b&0x7f)
	}
	return back, err
}

// inflate decompresses the next zlib stream, of at most maxObject bytes, and moves behind it; a longer one is
// errPack.
func (p *pack) inflate() ([]byte, error) {
	from := bytes.NewReader(p.content[p.at:])
	z, err := zlib.NewReader(from)
	if err != nil {
		return nil, err
	}
	object, err := io.ReadAll(io.LimitReader(z, maxObject+1))
	if len(object) > maxObject {
		return nil, errPack
	}
	p.at = len(p.content) - from.Len()
	return object, err
}

// applyDelta applies a delta to its base: two sizes, which are not needed, followed by copies from
// the base and bytes to insert. errPack: the delta is malformed, or its result too large.
func applyDelta(base, delta []byte) (object []byte, err error) {
	d := pack{content: delta} // only to read from it
	for range 2 {
		for b := byte(0x80); b >= 0x80 && err == nil; {
			b, err = d.readByte()
		}
	}
	for err == nil && d.at < len(delta) {
		var part []byte
		part, err = d.readPart(base)
		if object = append(object, part...); len(object) > maxObject {
			return nil, errPack
		}
	}
	return object, err
}

// readPart reads one instruction of a delta, and returns the bytes that it adds. errPack: it is cut
// off, unknown, or a copy from outside of the base.
func (p *pack) readPart(base []byte) ([]byte, error) {
	op, err := p.readByte()
	if err != nil || op == 0 {
		return nil, errPack
	}
	if op < 0x80 {
		if p.at += int(op); p.at > len(p.content) {
			return nil, errPack
		}
		return p.content[p.at-int(op) : p.at], nil
	}
	var number [7]int // four bytes of the offset, three of the length
	for i := range number {
		if op&(1<<i) != 0 {
			b, err := p.readByte()
			if err != nil {
				return nil, err
			}
			number[i] = int(b)
		}
	}
	from := number[0] | number[1]<<8 | number[2]<<16 | number[3]<<24
	length := number[4] | number[5]<<8 | number[6]<<16
	if length == 0 {
		length = 0x10000
	}
	if from < 0 || from+length > len(base) {
		return nil, errPack
	}
	return base[from : from+length], nil
}
