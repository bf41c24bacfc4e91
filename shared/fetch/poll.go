package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// A Poll is the response to a conditional request.
type Poll struct {
	Content  []byte
	URL      string // of the document, to which its links are relative: where the last redirect led
	Same     bool   // the server reports that nothing has changed; Content is nil
	ETag     string
	Modified string        // Last-Modified, as the server wrote it
	Type     string        // Content-Type, as the server wrote it; empty for a file
	MovedTo  string        // the URL to which permanent redirects lead (301, 308); empty: there is none
	Links    []string      // the headers Link, as the server wrote them; none for a file
	FreshFor time.Duration // for which the server calls the response fresh (Cache-Control); 0: it does not
}

// maxAge returns the max-age of a Cache-Control header, and 0 if it has none, or if
// each use needs a request.
func maxAge(control string) (age time.Duration) {
	for _, part := range strings.Split(strings.ToLower(control), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "no-cache", "no-store":
			return 0
		case "max-age":
			if n, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 32); err == nil && n > 0 {
				age = time.Duration(n) * time.Second
			}
		}
	}
	return age
}

// maxValidator limits the length of an ETag and of a Last-Modified that are kept.
const maxValidator = 1024

// Poll returns the content of a small document, such as a feed, at most maxBytes of it after decoding, unless the
// server reports that it has not changed since an earlier visit, which known describes. Nothing is cached. A
// local file is always read. It fails with fault.ErrTooLarge for a longer document, and with fault.ErrInvalid for
// a URI that is not accepted.
func (f *Fetcher) Poll(ctx context.Context, uri string, known models.Known, maxBytes int64) (p Poll, err error) {
	u, err := f.parse(uri)
	if err != nil {
		return Poll{}, err
	}
	if u.Scheme == "file" {
		p.URL = uri
		p.Content, err = f.readLocal(ctx, platform.FilePath(u), maxBytes)
	} else {
		p, _, err = f.poll(ctx, uri, http.Header{}, known, maxBytes)
	}
	if err != nil {
		return Poll{}, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	return p, nil
}

// Document is Poll without a condition.
func (f *Fetcher) Document(ctx context.Context, uri string, maxBytes int64) ([]byte, error) {
	p, err := f.Poll(ctx, uri, models.Known{}, maxBytes)
	return p.Content, err
}

// poll requests a document on the condition that it differs from what known describes, which it adds to header,
// and returns the header of the answer too. A 304 without a condition is an empty document.
func (f *Fetcher) poll(ctx context.Context, uri string, header http.Header, known models.Known, maxBytes int64) (Poll, http.Header, error) {
	header.Set("Accept-Encoding", "gzip")
	if known.ETag != "" {
		header.Set("If-None-Match", known.ETag)
	}
	if known.Modified != "" {
		header.Set("If-Modified-Since", known.Modified)
	}
	ctx = politely(ctx)
	t, err := f.send(ctx, http.MethodGet, uri, header, nil, maxBytes)
	if err != nil {
		return Poll{}, nil, err
	}
	defer t.close()
	moved := hopsOf(ctx).movedTo()
	if t.StatusCode == http.StatusNotModified && (known.ETag != "" || known.Modified != "") {
		return Poll{Same: true, MovedTo: moved, ETag: known.ETag, Modified: known.Modified, FreshFor: maxAge(t.Header.Get("Cache-Control"))}, t.Header, nil
	}
	content, err := io.ReadAll(t.body)
	if err != nil {
		return Poll{}, nil, err
	}
	return Poll{Content: content, URL: t.Request.URL.String(), MovedTo: moved, ETag: t.validator("ETag"), Modified: t.validator("Last-Modified"), Type: t.validator("Content-Type"), Links: t.Header.Values("Link"),
		FreshFor: maxAge(t.Header.Get("Cache-Control"))}, t.Header, nil
}

// Head returns what a server reports of a document without sending it: the validators for a later request, and
// its length, 0 if it is unknown. Only http and https URLs have a head. Another URI, and a server that does not
// answer such requests, are fault.ErrInvalid.
func (f *Fetcher) Head(ctx context.Context, uri string) (p Poll, bytes int64, err error) {
	u, err := f.parse(uri)
	if err != nil {
		return Poll{}, 0, err
	}
	if u.Scheme == "file" {
		return Poll{}, 0, fmt.Errorf("fetch %s: want an http(s) URL: %w", u.Redacted(), fault.ErrInvalid)
	}
	t, err := f.send(politely(ctx), http.MethodHead, uri, http.Header{"Accept-Encoding": {"identity"}}, nil, math.MaxInt64)
	if err != nil {
		return Poll{}, 0, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	defer t.close()
	return Poll{ETag: t.validator("ETag"), Modified: t.validator("Last-Modified")}, max(t.ContentLength, 0), nil
}

// readLocal reads a file of at most maxBytes below a root.
func (f *Fetcher) readLocal(ctx context.Context, path string, maxBytes int64) ([]byte, error) {
	src, _, err := f.roots.open(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	content, err := io.ReadAll(io.LimitReader(&interruptible{ctx, src}, maxBytes+1))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fileError(err)
	case int64(len(content)) > maxBytes:
		return nil, tooLarge(maxBytes)
	}
	return content, nil
}

// validator returns a header for a later conditional request, empty if it is too long.
func (t *transfer) validator(name string) string {
	v := t.Header.Get(name)
	if len(v) > maxValidator {
		return ""
	}
	return v
}

// retryError is an error of a server that has sent a Retry-After.
type retryError struct {
	error
	after time.Duration
	asked time.Duration // 0: the server did not say how long
}

// Unwrap returns the error with its kind.
func (e *retryError) Unwrap() error { return e.error }

// RetryAfter returns the Retry-After of a server's error, 0 if it sent none.
func RetryAfter(err error) time.Duration {
	var e *retryError
	if errors.As(err, &e) {
		return e.after
	}
	return 0
}

// AskedToWait is RetryAfter without the time that a server is left alone if it does not say how long.
func AskedToWait(err error) time.Duration {
	var e *retryError
	if errors.As(err, &e) {
		return e.asked
	}
	return 0
}

// retryAfter parses the Retry-After header, which is in seconds or a date of the server's clock;
// 0: there is none, it has passed, or it is malformed.
func retryAfter(r *http.Response) time.Duration {
	text := r.Header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(n, 0), 1<<30)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(serverTime(r.Header)), 0)
	}
	return 0
}

// serverTime returns the server's clock, which may be wrong by years, or ours if the server
// does not send its own.
func serverTime(h http.Header) time.Time {
	if at, err := http.ParseTime(h.Get("Date")); err == nil {
		return at
	}
	return time.Now()
}
