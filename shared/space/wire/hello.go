package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"leasehold/shared/fault"
)

// The kinds of frame beside requests and their answers.
const (
	Greeting Kind = iota + 4 // the client's first frame: AppendHello
	Welcomed                 // the gate's answer to a Hello, unless it is a Failure: AppendWelcome
	Cancel                   // the client no longer waits for the call's answer
	Ping                     // to be answered with pong
	pong
	Ended // the session has ended, for the reason in the body: AppendError
)

// magic is the first thing that either side sends; the version follows it. This
// preamble stays as it is in all versions, and so does the rule that the gate answers
// with its own preamble before it refuses a client, because both sides can name both
// versions then.
const magic = "LSHD"

// ErrForeign is the error for a peer that does not speak this protocol in any version.
var ErrForeign = errors.New("not the protocol of leasehold")

// AppendPreamble appends magic and version.
func AppendPreamble(buf []byte) []byte { return append(append(buf, magic...), version) }

// ReadPreamble reads the other side's preamble. If the error is ErrForeign, head is what the other side sent instead,
// as far as it has arrived, and stays unread. If the other side speaks another version, it fails with
// fault.ErrInvalid and names both versions; at the end of r with io.ErrUnexpectedEOF.
func ReadPreamble(r *bufio.Reader) (head []byte, err error) {
	head, err = r.Peek(len(magic) + 1)
	if n := min(len(head), len(magic)); string(head[:n]) != magic[:n] {
		return head, ErrForeign
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return head, err
	}
	if v := head[len(magic)]; v != version {
		return head, fmt.Errorf("this side speaks version %d of the protocol, the other one version %d; use the same release on both: %w", version, v, fault.ErrInvalid)
	}
	_, err = r.Discard(len(head))
	return head, err
}

// Hello is how a client introduces itself.
type Hello struct {
	Session string
	Mode    string // manager, worker, client …: for messages
	// Key is the client's secret: only a client that has it may take the session over
	// from an earlier connection.
	Key []byte
	TTL time.Duration // of the session without a sign of life; 0: it lives with its connection
	// Resume means that the session was open before: if it is not alive it was lost,
	// and is not opened.
	Resume bool
	// The machine, the process and the version of the client, for people and for protocols
	// that prefer another machine.
	Host    string
	PID     int
	Version string
	Name    string // stable name of a worker; may be empty
	// Token proves who a client without a certificate is. It is sent only over TLS.
	Token string
}

// maxToken bounds a Hello's token.
const maxToken = 128

// maxKey bounds a Hello's key.
const maxKey = 64

// hello lists the fields of a Hello, to write them or to read them. A client may send fewer;
// the others stay zero. A tag never changes its meaning, because both sides may be of another
// version.
func (c *coder) hello(h *Hello) {
	name(c, 1, &h.Session)
	name(c, 2, &h.Mode)
	c.blob(3, &h.Key, maxKey)
	integer(c, 4, &h.TTL) // nanoseconds
	c.boolean(5, &h.Resume)
	name(c, 6, &h.Host)
	integer(c, 7, &h.PID)
	name(c, 8, &h.Version)
	name(c, 9, &h.Name)
	text(c, 10, &h.Token, maxToken)
}

// AppendHello appends a Hello's body to buf.
func AppendHello(buf []byte, h Hello) []byte {
	c := coder{out: buf}
	c.hello(&h)
	return c.out
}

// DecodeHello decodes the body of a Hello. It fails with fault.ErrInvalid for a malformed one, and with
// fault.ErrTooLarge for an overlong name, key or token.
func DecodeHello(data []byte) (h Hello, err error) {
	c := reader(data)
	for c.more() {
		c.hello(&h)
	}
	if c.err != nil {
		return Hello{}, fmt.Errorf("hello: %w", c.err)
	}
	return h, nil
}

// Welcome is what a gate tells a client that it admits.
type Welcome struct {
	HTTP      string        // address of the coordinator's API and pages; empty: it has none
	Heartbeat time.Duration // how often managers and workers should give a sign of life
	Lost      time.Duration // after which silence their sessions are lost
	Ping      time.Duration // silence after which either side sends a ping
}

// welcome lists the fields of a Welcome; times are in nanoseconds.
func (c *coder) welcome(w *Welcome) {
	name(c, 1, &w.HTTP)
	integer(c, 2, &w.Heartbeat)
	integer(c, 3, &w.Lost)
	integer(c, 4, &w.Ping)
}

// AppendWelcome appends a Welcome's body to buf.
func AppendWelcome(buf []byte, w Welcome) []byte {
	c := coder{out: buf}
	c.welcome(&w)
	return c.out
}

// DecodeWelcome decodes the body of a Welcome. It fails with fault.ErrInvalid for a malformed one, and with
// fault.ErrTooLarge for an overlong name.
func DecodeWelcome(data []byte) (w Welcome, err error) {
	c := reader(data)
	for c.more() {
		c.welcome(&w)
	}
	if c.err != nil {
		return Welcome{}, fmt.Errorf("welcome: %w", c.err)
	}
	return w, nil
}

// Send writes one frame to w in one call, behind prefix, which may be nil. It fails with fault.ErrTooLarge for a
// frame of more than MaxFrame bytes.
func Send(w io.Writer, prefix []byte, f Frame) error {
	data, err := f.Append(prefix)
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}
