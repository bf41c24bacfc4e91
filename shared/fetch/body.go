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

// A watch ends a transfer that makes no progress.
type watch struct {
	timer *time.Timer
	after time.Duration
	since int // bytes since the timer was last set; of one goroutine
}

func newWatch(after time.Duration, stop context.CancelCauseFunc) *watch {
	stalled := fmt.Errorf("no progress for %s: %w", after, fault.ErrUnavailable)
	return &watch{timer: time.AfterFunc(after, func() { stop(stalled) }), after: after}
}

func (w *watch) progress(n int) {
	if w.since += n; w.since >= stallBytes {
		w.since = 0
		w.timer.Reset(w.after)
	}
}

// Stop ends the watch; the transfer may take as long as it likes.
func (w *watch) Stop() { w.timer.Stop() }

// encoded counts what comes over the network.
type encoded struct {
	io.Reader
	watch *watch
	n     int64
}

func (e *encoded) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	e.n += int64(n)
	e.watch.progress(n)
	return n, err
}

// A body is an answer's content, decoded. Its errors have a kind; what it gives
// is never more than its limit.
type body struct {
	ctx   context.Context
	watch *watch
	raw   *encoded
	src   io.Reader // raw, or what decodes it; nil until the first Read
	gzip  bool
	n     int64 // decoded bytes
	most  int64
}

func newBody(ctx context.Context, r *http.Response, w *watch, most int64) (*body, error) {
	b := &body{ctx: ctx, watch: w, raw: &encoded{Reader: r.Body, watch: w}, most: most}
	switch how := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); how {
	case "", "identity":
	case "gzip", "x-gzip":
		b.gzip = true
	default:
		return nil, fmt.Errorf("content encoding %q: gzip and identity are accepted: %w", shorten(how), fault.ErrInvalid)
	}
	if r.ContentLength > most {
		return nil, fmt.Errorf("the server announces %d bytes: %w", r.ContentLength, tooLarge(most))
	}
	return b, nil
}

func (b *body) Read(p []byte) (int, error) {
	if b.src == nil {
		if err := b.begin(); err != nil {
			return 0, b.kind(err)
		}
	}
	n, err := b.src.Read(p)
	b.n += int64(n)
	switch {
	case b.n > b.most:
		return 0, tooLarge(b.most)
	case b.n > ratioGrace && b.n > maxRatio*b.raw.n:
		return 0, fmt.Errorf("it grows more than %d times when decoded: %w", maxRatio, fault.ErrTooLarge)
	case err == nil || err == io.EOF:
		return n, err
	}
	return n, b.kind(err)
}

func (b *body) begin() error {
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

func (b *body) kind(err error) error {
	var bad flate.CorruptInputError
	switch {
	case b.ctx.Err() != nil:
		return context.Cause(b.ctx)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &bad):
		return fmt.Errorf("%w: %w", err, fault.ErrCorrupt)
	}
	return fmt.Errorf("cut off after %d bytes: %w: %w", b.raw.n, err, fault.ErrUnavailable)
}

func tooLarge(most int64) error {
	return fmt.Errorf("more than the %d bytes allowed: %w", most, fault.ErrTooLarge)
}
