package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"leasehold/shared/fault"
)

// version is the version of the frames that this package writes and reads.
const version = 2

// MaxFrame is the most bytes that follow a frame's length: it bounds what one
// message can make a reader allocate, and lets a tuple of tuple.MaxBytes and a
// reply of space.MaxReply pass.
const MaxFrame = 4 << 20

// Kind is what a frame is, and so how its body is encoded.
type Kind byte

// The kinds of frame.
const (
	Request Kind = iota + 1 // AppendRequest
	Reply                   // AppendReply
	Failure                 // AppendError
)

// Frame is one message.
type Frame struct {
	Kind Kind
	Call uint64 // the client's number of the request, also in its reply or failure; 0 in frames about no call
	Body []byte
	// Refused is why a Link has read the frame without its body: nil, or memory.ErrFull. It
	// does not travel. RefusedBytes is the size of such a frame.
	Refused      error
	RefusedBytes int
}

// Append appends the frame to buf. For a frame of more than MaxFrame bytes it fails with fault.ErrTooLarge, and
// returns buf as it was.
func (f Frame) Append(buf []byte) ([]byte, error) {
	start := len(buf)
	buf = append(buf, 0, 0, 0, 0, version, byte(f.Kind))
	buf = binary.AppendUvarint(buf, f.Call)
	size := len(buf) - start - 4 + len(f.Body)
	if size > MaxFrame {
		return buf[:start], fmt.Errorf("frame of %d bytes, at most %d: %w", size, MaxFrame, fault.ErrTooLarge)
	}
	binary.BigEndian.PutUint32(buf[start:], uint32(size))
	return append(buf, f.Body...), nil
}

// Read reads one frame from r into buf, and returns buf for the next call. The frame's body is part of buf. Read
// grows buf as bytes arrive, because a length alone must not take memory. Errors: fault.ErrTooLarge for a frame of
// more than MaxFrame, fault.ErrInvalid for a malformed one, io.EOF before the first byte of a frame,
// io.ErrUnexpectedEOF within one.
func Read(r io.Reader, buf []byte) (Frame, []byte, error) {
	return read(r, buf, MaxFrame, readStep)
}

// maxHello is the most bytes that follow the length of a frame before the handshake, because
// many connections may send one that no client sends.
const maxHello = 4 << 10

// ReadHello is Read for the first frame of a connection, which has at most maxHello bytes.
func ReadHello(r io.Reader) (Frame, error) {
	f, _, err := read(r, nil, maxHello, helloStep)
	return f, err
}

// The first steps by which a buffer grows while a frame arrives.
const (
	readStep  = 4 << 10
	helloStep = 256
)

// read reads a frame of at most limit bytes after its length, as Read describes. The buffer
// grows by step bytes first, and then doubles. The buffer is returned with an error too.
func read(r io.Reader, buf []byte, limit int64, step int) (Frame, []byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Frame{}, buf, err
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if size > limit {
		return Frame{}, buf, fmt.Errorf("frame of %d bytes, at most %d: %w", size, limit, fault.ErrTooLarge)
	}
	buf = buf[:0]
	for len(buf) < int(size) {
		have := len(buf)
		want := min(int(size)-have, max(step, have))
		buf = slices.Grow(buf, want)[:have+want]
		if _, err := io.ReadFull(r, buf[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return Frame{}, buf, err
		}
	}
	f, err := parse(buf)
	return f, buf, err
}

// parse reads what follows a frame's length: version, kind, call and body, which shares memory with data.
func parse(data []byte) (Frame, error) {
	if len(data) < 2 {
		return Frame{}, fmt.Errorf("frame of %d bytes, want at least 3: %w", len(data), fault.ErrInvalid)
	}
	if data[0] != version {
		return Frame{}, fmt.Errorf("frame of version %d, want version %d: %w", data[0], version, fault.ErrInvalid)
	}
	call, size := binary.Uvarint(data[2:])
	if size <= 0 {
		return Frame{}, fmt.Errorf("frame without a call number: %w", fault.ErrInvalid)
	}
	return Frame{Kind: Kind(data[1]), Call: call, Body: data[2+size:]}, nil
}
