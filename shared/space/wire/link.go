package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"leasehold/shared/fault"
)

// Bounds of a Link.
const (
	readBuffer = 4 << 10
	// keepBuffer is what a link keeps of the buffers that a large frame needed.
	keepBuffer = 16 << 10
	// MaxQueued bounds the bytes that wait to be written; a sender waits then.
	MaxQueued = 16 << 20
	// writeChunk is what must get through within WriteTimeout: a reader slower
	// than this is dropped.
	writeChunk   = 256 << 10
	writeTimeout = 10 * time.Second
	// frameTimeout is how long the rest of a frame that has begun may take.
	frameTimeout = 30 * time.Second
)

// ErrSilent says that the other side gave no sign of life.
var ErrSilent = fmt.Errorf("the other side is silent: %w", fault.ErrUnavailable)

// Link sends and receives frames over a connection, and finds out when there is
// nobody at its other end: after Ping of silence it asks, and after twice that it
// gives up. Send and Close may be called concurrently; Receive, and Write, by one
// goroutine each.
type Link struct {
	Ping time.Duration // must be set before Receive is called

	conn  net.Conn
	r     *bufio.Reader
	frame []byte
	asked bool

	mu     sync.Mutex // guards what follows
	out    []byte
	room   *sync.Cond // there is room in out, or the link is closed
	closed error
	finish error // why to close it once all is written

	wake chan struct{}
	done chan struct{} // closed with the link
}

// NewLink returns a link over conn.
func NewLink(conn net.Conn) *Link {
	l := &Link{conn: conn, r: bufio.NewReaderSize(conn, readBuffer), wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.room = sync.NewCond(&l.mu)
	return l
}

// Reader is what Receive reads from, for the handshake before it.
func (l *Link) Reader() *bufio.Reader { return l.r }

// Send queues a frame; it waits while too much is queued. The error says why the
// link is closed, or that the frame is fault.ErrTooLarge.
func (l *Link) Send(f Frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.closed == nil && len(l.out) > 0 && len(l.out)+len(f.Body) > MaxQueued {
		l.room.Wait()
	}
	if l.closed != nil {
		return l.closed
	}
	out, err := f.Append(l.out)
	l.out = out
	if err == nil {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	return err
}

// Write writes what is queued until the link is closed or ended is. In the latter
// case it writes last, if that returns a frame, and closes the link.
func (l *Link) Write(ended <-chan struct{}, last func() (Frame, bool)) {
	var buf []byte
	for {
		select {
		case <-l.wake:
			runtime.Gosched() // who is about to send saves a system call
			if buf = l.flush(buf); l.finished() != nil {
				l.Close(l.finished())
			}
		case <-l.done:
			return
		case <-ended:
			if f, ok := last(); ok {
				_ = l.Send(f) // a closed link needs no last frame
			}
			l.flush(buf)
			l.Close(fmt.Errorf("the session has ended: %w", fault.ErrClosed))
			return
		}
	}
}

// Finish has the link closed for that reason as soon as all is written that is
// queued, the last frame included.
func (l *Link) Finish(last Frame, why error) {
	_ = l.Send(last) // a closed link needs none
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finish = why
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *Link) finished() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finish
}

// flush writes what is queued and returns a buffer for the next time.
func (l *Link) flush(spare []byte) []byte {
	l.mu.Lock()
	out := l.out
	l.out = spare[:0]
	l.mu.Unlock()
	l.room.Broadcast()
	for rest := out; len(rest) > 0; {
		n := min(len(rest), writeChunk)
		_ = l.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // a closed connection fails below
		if _, err := l.conn.Write(rest[:n]); err != nil {
			l.Close(fmt.Errorf("write: %w", err))
			return nil
		}
		rest = rest[n:]
	}
	if cap(out) > keepBuffer {
		return nil
	}
	return out
}

// Receive returns the next frame; its body is valid until the next call. It
// answers pings itself. A malformed frame is fault.ErrInvalid or
// fault.ErrTooLarge; after any error the link is of no use.
func (l *Link) Receive() (Frame, error) {
	for {
		f, err := l.receive()
		switch {
		case err != nil:
			return f, err
		case f.Kind == Ping:
			err = l.Send(Frame{Kind: Pong})
		case f.Kind != Pong:
			return f, nil
		}
		if err != nil {
			return Frame{}, err
		}
	}
}

func (l *Link) receive() (Frame, error) {
	if err := l.awaitByte(); err != nil {
		return Frame{}, err
	}
	if !l.complete() {
		if err := l.conn.SetReadDeadline(time.Now().Add(frameTimeout)); err != nil {
			return Frame{}, err
		}
	}
	if cap(l.frame) > keepBuffer {
		l.frame = nil
	}
	f, buf, err := Read(l.r, l.frame)
	l.frame = buf
	return f, err
}

// awaitByte returns once a frame has begun.
func (l *Link) awaitByte() error {
	for l.r.Buffered() == 0 {
		if err := l.conn.SetReadDeadline(time.Now().Add(l.Ping)); err != nil {
			return err
		}
		_, err := l.r.Peek(1)
		switch {
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case l.asked:
			return ErrSilent
		default:
			l.asked = true
			if err := l.Send(Frame{Kind: Ping}); err != nil {
				return err
			}
		}
	}
	l.asked = false
	return nil
}

// More says that the next frame has arrived already. It is for the one who calls
// Receive.
func (l *Link) More() bool { return l.complete() }

// complete says that the whole of the next frame has arrived.
func (l *Link) complete() bool {
	if l.r.Buffered() < 4 {
		return false
	}
	head, _ := l.r.Peek(4) // it is buffered
	return uint64(l.r.Buffered()) >= 4+uint64(binary.BigEndian.Uint32(head))
}

// Close closes the connection, for the reason that others are told. Only the
// first counts.
func (l *Link) Close(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed != nil {
		return
	}
	l.closed = why
	l.out = nil
	close(l.done)
	l.room.Broadcast()
	_ = l.conn.Close() // nothing depends on it
}

// Err says why the link is closed, if it is.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}
