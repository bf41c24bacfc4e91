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
	"sync/atomic"
	"syscall"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
	"leasehold/shared/space/memory"
)

// Bounds of a Link.
const (
	readBuffer = 4 << 10
	// helloBuffer is the read buffer before the handshake, because anybody may open many
	// connections and send nothing.
	helloBuffer = 64
	// keepBuffer is the largest buffer that a link keeps after a large frame.
	keepBuffer = 16 << 10
	// maxQueued bounds the bytes that wait to be written; a sender waits then.
	maxQueued = 16 << 20
	// writeChunk is how much must be written within writeTimeout: the connection of a
	// reader slower than this is closed.
	writeChunk   = 256 << 10
	writeTimeout = 10 * time.Second
	// frameTimeout is how long the rest of a frame that has begun may take.
	frameTimeout = 30 * time.Second
)

// errSilent is why a link is closed whose other side did not answer a ping.
var errSilent = fmt.Errorf("the other side is silent: %w", fault.ErrUnavailable)

// Link sends and receives frames over a connection, and notices when the other side is
// gone: after Ping of silence it sends a ping, and after Ping again without any frame it
// gives up. Send, Queue, Flush and Close may be called concurrently; Receive, and Write, by one
// goroutine each.
type Link struct {
	Ping time.Duration // must be set before Receive is called
	// BeforeWait, if set, is called by Receive whenever no whole frame has arrived, before it
	// waits for one. It must be set before Receive is called.
	BeforeWait func()
	// Memory counts frames larger than keepBuffer while they are read, and what waits to be
	// written; nil: no limit. It and Class must be set before Receive is called.
	Memory *memory.Budget
	Class  memory.Class // of the frames that are read

	reading atomic.Int64 // bytes of Memory reserved for the incoming frame

	conn   net.Conn
	input  *bufio.Reader
	frame  []byte // buffer of Receive
	pinged bool   // a ping was sent since the last frame

	mu       sync.Mutex // guards what follows
	out      []byte     // to be written
	writable *sync.Cond // signalled when out has shrunk, or the link is closed
	closed   error
	finish   error // why to close the link once out is written; nil: it stays open

	wake chan struct{} // capacity 1; tells Write that there is something to do
	done chan struct{} // closed with the link

	writing sync.Mutex      // held while bytes go to conn; guards what follows
	spare   []byte          // buffer for the next out
	rest    []byte          // of an earlier out, to be written first
	raw     syscall.RawConn // of conn; nil: only Write writes
}

// NewLink returns a link over conn. Write must run while it is used. If the connection can be
// written without waiting, Flush does that.
func NewLink(conn net.Conn) *Link {
	l := &Link{conn: conn, input: bufio.NewReaderSize(conn, helloBuffer), wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.writable = sync.NewCond(&l.mu)
	if s, ok := conn.(syscall.Conn); ok {
		l.raw, _ = s.SyscallConn() // nil if the connection under it has none
	}
	return l
}

// Reader is what Receive reads from, for the handshake before it.
func (l *Link) Reader() *bufio.Reader { return l.input }

// Send queues a frame for Write; it waits while too much is queued. It fails with fault.ErrTooLarge for an overlong
// frame, and once the link is closed with the reason.
func (l *Link) Send(f Frame) error {
	err := l.Queue(f)
	if err == nil {
		l.wakeWriter()
	}
	return err
}

// Queue is Send for a frame that may stay queued until Flush, which must follow, or until another Send. It waits
// while more than maxQueued bytes would be queued, unless the queue is empty, so that the largest frame passes. It
// fails as Send does.
func (l *Link) Queue(f Frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.closed == nil && len(l.out) > 0 && len(l.out)+len(f.Body) > maxQueued {
		l.wakeWriter() // nothing else might write what this waits for
		l.writable.Wait()
	}
	return l.appendFrame(f)
}

// appendFrame queues a frame without waiting, and counts its memory. The caller holds mu.
func (l *Link) appendFrame(f Frame) error {
	if l.closed != nil {
		return l.closed
	}
	before := len(l.out)
	out, err := f.Append(l.out)
	l.out = out
	l.Memory.Add(int64(len(out) - before))
	return err
}

// Queued returns how many bytes are queued.
func (l *Link) Queued() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.out)
}

// Flush writes the queued frames in the caller's goroutine, as far as the system takes them
// without waiting. It never waits, also not for another goroutine that writes: Write does the
// rest, whenever something is left.
func (l *Link) Flush() {
	if l.raw == nil || !l.writing.TryLock() {
		l.wakeWriter()
		return
	}
	defer l.writing.Unlock()
	if l.rest == nil && l.takeQueue() {
		n := platform.WriteNow(l.raw, l.rest[:min(len(l.rest), writeChunk)])
		l.dropWritten(n)
	}
	if l.rest != nil || l.Queued() > 0 {
		l.wakeWriter()
	}
}

// wakeWriter makes Write write the queue. It does not wait: a signal that Write has not received serves for both.
func (l *Link) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Write writes the queued frames until the link is closed or ended is. In the latter case
// it sends the frame that last returns, and closes the link. If ended is nil it never is, and
// last may be nil.
func (l *Link) Write(ended <-chan struct{}, last func() Frame) {
	defer l.dropRest()
	for {
		select {
		case <-l.wake:
			runtime.Gosched() // goroutines that are about to send save a system call each
			l.flush()
			l.mu.Lock()
			finish := l.finish
			l.mu.Unlock()
			if finish != nil {
				l.Close(finish)
			}
		case <-l.done:
			return
		case <-ended:
			f := last()
			l.mu.Lock()
			_ = l.appendFrame(f) // without waiting for this goroutine; a closed link needs no last frame
			l.mu.Unlock()
			l.flush()
			l.Close(fmt.Errorf("the session has ended: %w", fault.ErrClosed))
			return
		}
	}
}

// Finish queues a last frame, and has the link closed, because of why, as soon as the whole queue is written.
func (l *Link) Finish(last Frame, why error) {
	_ = l.Send(last) // a closed link needs none
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finish = why
	l.wakeWriter()
}

// flush writes the queued frames, chunk by chunk, and waits until the connection has taken them.
// If that fails, or a chunk takes longer than writeTimeout, it closes the link.
func (l *Link) flush() {
	l.writing.Lock()
	defer l.writing.Unlock()
	defer func() { _ = l.conn.SetWriteDeadline(time.Time{}) }() // for Flush; of a closed connection it has no effect
	for l.rest != nil || l.takeQueue() {
		_ = l.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // a closed connection fails below
		n, err := l.conn.Write(l.rest[:min(len(l.rest), writeChunk)])
		l.dropWritten(n)
		if err != nil {
			l.Close(fmt.Errorf("write: %w", err))
			return
		}
	}
}

// dropRest ends the reservation for the bytes that will not be written, because the link is
// closed and no goroutine writes any more.
func (l *Link) dropRest() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.dropWritten(len(l.rest))
}

// takeQueue makes the queued frames the rest, which must be empty, and reports whether there were
// any. The queue gets the spare buffer, and senders that wait for space go on. The caller holds
// writing.
func (l *Link) takeQueue() bool {
	l.mu.Lock()
	out := l.out
	if len(out) > 0 {
		l.out = l.spare[:0]
	}
	l.mu.Unlock()
	if len(out) == 0 {
		return false
	}
	l.spare, l.rest = nil, out
	if cap(out) <= keepBuffer {
		l.spare = out // once all of it is written
	}
	l.writable.Broadcast()
	return true
}

// dropWritten removes the first n bytes of the rest, which were written, and their memory. The
// caller holds writing.
func (l *Link) dropWritten(n int) {
	l.Memory.Add(-int64(n))
	l.rest = l.rest[n:]
	if len(l.rest) == 0 {
		l.rest = nil
	}
}

// Receive returns the next frame; its body is valid until the next call. It answers pings itself. It fails with
// fault.ErrInvalid or fault.ErrTooLarge for a malformed frame, with fault.ErrUnavailable if the other side is silent,
// and once the link is closed with the reason. After any error the link must not be used any more.
func (l *Link) Receive() (Frame, error) {
	for {
		f, err := l.receive()
		switch {
		case err != nil:
			return f, err
		case f.Kind == Ping:
			err = l.Send(Frame{Kind: pong})
		case f.Kind != pong:
			return f, nil
		}
		if err != nil {
			return Frame{}, err
		}
	}
}

// receive reads one frame. It sets a deadline only for a frame that has not arrived whole, because setting one is a
// system call. For a large frame it reserves memory first; without memory it skips the frame (Refused). Before it
// waits it calls BeforeWait.
func (l *Link) receive() (Frame, error) {
	if l.input.Size() < readBuffer { // the first call: the handshake is over
		l.input = bufio.NewReaderSize(l.input, readBuffer) // reads first what the smaller buffer holds
	}
	if l.BeforeWait != nil && !l.frameArrived() {
		l.BeforeWait()
	}
	if err := l.awaitByte(); err != nil {
		return Frame{}, err
	}
	if !l.frameArrived() {
		if err := l.conn.SetReadDeadline(time.Now().Add(frameTimeout)); err != nil {
			return Frame{}, err
		}
	}
	if cap(l.frame) > keepBuffer {
		l.frame = nil
	}
	l.releaseFrame()
	if head, err := l.input.Peek(4); err == nil { // else Read returns the error
		if size := int64(binary.BigEndian.Uint32(head)); size > keepBuffer && size <= MaxFrame {
			if full := l.Memory.Reserve(size, l.Class); full != nil {
				return l.skipFrame(int(size), full)
			}
			l.reading.Store(size)
		}
	}
	f, buf, err := Read(l.input, l.frame)
	l.frame = buf
	return f, err
}

// releaseFrame ends the reservation for the frame that was read last. It may be called
// concurrently with itself, by Receive and by Close.
func (l *Link) releaseFrame() { l.Memory.Add(-l.reading.Swap(0)) }

// skipFrame reads a frame of size bytes and keeps only its kind and call, because there is no memory for its body:
// why becomes its Refused, not an error. size is above keepBuffer, so that the head can be read at once.
func (l *Link) skipFrame(size int, why error) (Frame, error) {
	const head = 4 + 2 + binary.MaxVarintLen64
	data, err := l.input.Peek(head)
	if err != nil {
		return Frame{}, err
	}
	f, err := parse(data[4:])
	f.Body, f.Refused, f.RefusedBytes = nil, why, size
	if err == nil {
		_, err = l.input.Discard(4 + size)
	}
	return f, err
}

// awaitByte returns nil once a frame has begun. It sends a ping after Ping of silence, and returns errSilent after as
// much again.
func (l *Link) awaitByte() error {
	for l.input.Buffered() == 0 {
		if err := l.conn.SetReadDeadline(time.Now().Add(l.Ping)); err != nil {
			return err
		}
		_, err := l.input.Peek(1)
		switch {
		case err == nil:
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case l.pinged:
			return errSilent
		default:
			l.pinged = true
			if err := l.Send(Frame{Kind: Ping}); err != nil {
				return err
			}
		}
	}
	l.pinged = false
	return nil
}

// frameArrived reports whether the whole of the next frame is in the buffer. A frame larger than the buffer never is.
func (l *Link) frameArrived() bool {
	if l.input.Buffered() < 4 {
		return false
	}
	head, _ := l.input.Peek(4) // it is buffered
	return uint64(l.input.Buffered()) >= 4+uint64(binary.BigEndian.Uint32(head))
}

// Close closes the connection; Err and Send return why from then on. Only the first call counts,
// so that why is the cause and not one of its effects.
func (l *Link) Close(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releaseFrame()
	if l.closed != nil {
		return
	}
	l.closed = why
	l.Memory.Add(-int64(len(l.out)))
	l.out = nil
	close(l.done)
	l.writable.Broadcast()
	_ = l.conn.Close() // the connection is not used again, so its error has no effect
}

// Err returns why the link is closed; nil while it is open.
func (l *Link) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}
