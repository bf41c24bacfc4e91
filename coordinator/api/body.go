package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space/memory"
)

// Limits of the bodies of requests that are read or handled at a time.
const (
	maxBodies      = 64 << 20  // bytes of all bodies
	maxFleetBodies = 256 << 20 // bytes of all bodies of managers' calls
	firstRead      = 4 << 10   // bytes that a body takes before more of it has arrived

	// A body must arrive at bodyRate on average, bodySlack after the first read at the
	// latest: a client that sends one byte a second is closed after bodySlack.
	bodyRate  = 16 << 10 // bytes a second
	bodySlack = 5 * time.Second
)

// budget bounds the memory of request bodies, which counts towards the memory of the
// process too.
type budget struct {
	max    int
	memory *memory.Budget
	class  memory.Class

	mu   sync.Mutex // guards used
	used int
}

// bodyCost is how many bytes a byte of a body takes: in its buffer, and decoded.
const bodyCost = 2

// take adds bytes to a body that has own bytes already. A body that has the budget to itself gets more unless
// memory is used up, because its size has a limit of its own.
func (b *budget) take(bytes, own int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if others := b.used - own; others > 0 && b.used+bytes > b.max {
		return fmt.Errorf("body: %w: the bodies of other requests take %d bytes", fault.ErrOverloaded, b.max)
	}
	if err := b.memory.Reserve(bodyCost*int64(bytes), b.class); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	b.used += bytes
	return nil
}

// giveBack returns bytes that take added.
func (b *budget) giveBack(bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= bytes
	b.memory.Add(-bodyCost * int64(bytes))
}

// readBody replaces the body of a request, of at most maxBytes, by its bytes in memory (a *bodyInMemory), so that
// a client that sends slowly takes a slot only after its last byte. Its buffer grows as bytes arrive, because a
// length alone must not take memory. The bytes count to the budget until release is called. With an error,
// release is nil and nothing is counted. After a bodyError the connection is closed, because the rest of the body
// is not read. After each read the deadline moves by the time that the bytes so far may take at bodyRate.
func (b *budget) readBody(w http.ResponseWriter, r *http.Request, maxBytes int64, timeout time.Duration) (release func(), err error) {
	var data []byte
	defer func() {
		if err != nil {
			b.giveBack(cap(data))
		}
	}()
	c, body := http.NewResponseController(w), http.MaxBytesReader(w, r.Body, maxBytes)
	for began := time.Now(); ; {
		if len(data) == cap(data) {
			grown, err := b.grow(data, r.ContentLength)
			if err != nil {
				return nil, err
			}
			data = grown
		}
		atBodyRate := time.Duration(float64(len(data)) / bodyRate * float64(time.Second))
		_ = c.SetReadDeadline(began.Add(min(timeout, bodySlack+atBodyRate))) // a test's recorder has none
		n, err := body.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			_ = c.SetReadDeadline(began.Add(timeout))
			r.Body = &bodyInMemory{bytes.NewReader(data), data}
			return func() { b.giveBack(cap(data)) }, nil
		}
		if err != nil {
			w.Header().Set("Connection", "close")
			return nil, bodyError(err)
		}
	}
}

// grow returns a full buffer with twice its capacity, for which it takes the bytes. If the length of the body is
// known (0 or more), the buffer gets at most one byte more than that, so that the end of the body can be read
// without growing it again.
func (b *budget) grow(data []byte, length int64) ([]byte, error) {
	more := max(firstRead, cap(data))
	if length >= 0 {
		more = int(min(int64(more), max(1, length+1-int64(cap(data)))))
	}
	if err := b.take(more, cap(data)); err != nil {
		return nil, err
	}
	grown := make([]byte, len(data), cap(data)+more)
	copy(grown, data)
	return grown, nil
}

// bodyError converts an error of reading a body: fault.ErrTooLarge, fault.ErrUnavailable if it
// came too slowly, and fault.ErrInvalid otherwise.
func bodyError(err error) error {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return fmt.Errorf("body: %w: at most %d bytes", fault.ErrTooLarge, tooLarge.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("body: %w: it came slower than %d bytes a second; send it again", fault.ErrUnavailable, bodyRate)
	}
	return fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
}
