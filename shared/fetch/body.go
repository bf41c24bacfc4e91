package fetch

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"leasehold/shared/fault"
)

// A stallTimer cancels a transfer that makes no progress.
type stallTimer struct {
	timer *time.Timer
	after time.Duration
	since int // bytes since the timer was last set; used by one goroutine
}

// newStallTimer returns a timer that calls stop with fault.ErrUnavailable unless progress counts
// stallBytes within each period after.
func newStallTimer(after time.Duration, stop context.CancelCauseFunc) *stallTimer {
	stalled := fmt.Errorf("no progress for %s: %w", after, fault.ErrUnavailable)
	return &stallTimer{timer: time.AfterFunc(after, func() { stop(stalled) }), after: after}
}

// noteProgress counts bytes that have arrived, and restarts the timer when they are stallBytes.
func (t *stallTimer) noteProgress(n int) {
	t.since += n
	if t.since >= stallBytes {
		t.since = 0
		t.timer.Reset(t.after)
	}
}

func (t *stallTimer) stop() { t.timer.Stop() }

// encoded counts the bytes that arrive from the network.
type encoded struct {
	io.Reader
	stall *stallTimer
	read  int64
}

// Read counts the bytes as they come from the network, and tells the watch over stalled transfers.
func (e *encoded) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	e.read += int64(n)
	e.stall.noteProgress(n)
	return n, err
}

// A body is the decoded content of a response. Its errors have a kind, and it returns at
// most max bytes.
type body struct {
	ctx   context.Context
	stall *stallTimer
	raw   *encoded
	src   io.Reader // raw, or the decoder over it; nil until the first Read
	gzip  bool

	decoded int64 // bytes so far
	max     int64
}

// newBody returns the body of a response, at most maxBytes decoded. It refuses a body by its announced size or
// encoding before reading it.
func newBody(ctx context.Context, r *http.Response, stall *stallTimer, maxBytes int64) (*body, error) {
	b := &body{ctx: ctx, stall: stall, raw: &encoded{Reader: r.Body, stall: stall}, max: maxBytes}
	switch how := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); how {
	case "", "identity":
	case "gzip", "x-gzip":
		b.gzip = true
	default:
		return nil, fmt.Errorf("content encoding %q: use gzip or identity: %w", shorten(how), fault.ErrInvalid)
	}
	if r.ContentLength > maxBytes {
		return nil, fmt.Errorf("the server announces %d bytes: %w", r.ContentLength, tooLarge(maxBytes))
	}
	return b, nil
}

// Read checks the limits after each read, so that at most one buffer more than max is decoded, and nothing past
// max is returned. Beyond max it returns fault.ErrTooLarge.
func (b *body) Read(p []byte) (int, error) {
	if b.src == nil {
		if err := b.startDecoding(); err != nil {
			return 0, b.classify(err)
		}
	}
	n, err := b.src.Read(p)
	b.decoded += int64(n)
	switch {
	case b.decoded > b.max:
		return 0, tooLarge(b.max)
	case b.decoded > ratioGrace && b.decoded > maxRatio*b.raw.read:
		return 0, fmt.Errorf("it grows more than %d times when decoded: %w", maxRatio, fault.ErrTooLarge)
	case err == nil || err == io.EOF:
		return n, err
	}
	return n, b.classify(err)
}

// startDecoding reads the header of gzip, so it is not called before the body is needed. An empty
// body was cut off (io.ErrUnexpectedEOF), because gzip content has a header. A wrong header is
// the error of gzip.
func (b *body) startDecoding() error {
	if !b.gzip {
		b.src = b.raw
		return nil
	}
	z, err := gzip.NewReader(b.raw)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	b.src = z
	return nil
}

// classify returns an error of reading with its kind: fault.ErrCorrupt for damaged gzip,
// otherwise fault.ErrUnavailable. If the transfer was cancelled, its cause counts,
// because the connection's error only follows from it.
func (b *body) classify(err error) error {
	var bad flate.CorruptInputError
	switch {
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &bad):
		return fmt.Errorf("%w: %w", err, fault.ErrCorrupt)
	}
	return fmt.Errorf("cut off after %d bytes: %w: %w", b.raw.read, err, fault.ErrUnavailable)
}

func tooLarge(maxBytes int64) error {
	return fmt.Errorf("more than the %d bytes allowed: %w", maxBytes, fault.ErrTooLarge)
}
