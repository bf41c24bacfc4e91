package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"leasehold/models"
)

// A Poll is a document that was asked for again.
type Poll struct {
	Content  []byte
	Same     bool // the server says that nothing has changed; Content is nil
	ETag     string
	Modified string // Last-Modified, as the server wrote it
}

// maxValidator bounds an ETag and a date that a server gives.
const maxValidator = 1024

// Poll is Document, unless the server says that what an earlier visit knew (its
// ETag, or Last-Modified) is still so. Of a local file it is Document.
func (f *Fetcher) Poll(ctx context.Context, uri string, known models.Known, maxBytes int64) (Poll, error) {
	u, err := f.parse(uri)
	if err != nil {
		return Poll{}, err
	}
	if u.Scheme == "file" {
		content, err := f.Document(ctx, uri, maxBytes)
		return Poll{Content: content}, err
	}
	p, err := f.poll(ctx, uri, known, maxBytes)
	if err != nil {
		return Poll{}, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	return p, nil
}

func (f *Fetcher) poll(ctx context.Context, uri string, known models.Known, most int64) (Poll, error) {
	header := http.Header{"Accept-Encoding": {"gzip"}}
	if known.ETag != "" {
		header.Set("If-None-Match", known.ETag)
	}
	if known.Modified != "" {
		header.Set("If-Modified-Since", known.Modified)
	}
	t, err := f.request(ctx, uri, header, most)
	if err != nil {
		return Poll{}, err
	}
	defer t.close()
	if t.StatusCode == http.StatusNotModified && (known.ETag != "" || known.Modified != "") {
		return Poll{Same: true, ETag: known.ETag, Modified: known.Modified}, nil
	}
	content, err := io.ReadAll(t.body)
	if err != nil {
		return Poll{}, err
	}
	return Poll{Content: content, ETag: validator(t, "ETag"), Modified: validator(t, "Last-Modified")}, nil
}

func validator(t *transfer, name string) string {
	v := t.Header.Get(name)
	if len(v) > maxValidator {
		return ""
	}
	return v
}

// impatient is an error of a server that says when to come again.
type impatient struct {
	error
	after time.Duration
}

// Unwrap lets errors.Is find the kind.
func (e *impatient) Unwrap() error { return e.error }

// RetryAfter returns how long a server wants to be left alone, 0 if an error says
// nothing of it.
func RetryAfter(err error) time.Duration {
	var e *impatient
	if errors.As(err, &e) {
		return e.after
	}
	return 0
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(r *http.Response) time.Duration {
	text := r.Header.Get("Retry-After")
	if n, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(n, 0), 1<<30)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
