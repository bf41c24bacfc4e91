package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"

	"leasehold/shared/fault"
)

// A transfer is one request and the answer to it.
type transfer struct {
	*http.Response
	body *body // decoded, limited, and watched for progress
	stop context.CancelCauseFunc
}

func (t *transfer) close() {
	t.body.watch.Stop()
	t.stop(nil)
	t.Body.Close()
}

func (f *Fetcher) newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy would dial what we must not
			DialContext:            f.guard.dial,
			DisableCompression:     true, // we decode ourselves, with limits
			TLSHandshakeTimeout:    dialTimeout,
			MaxResponseHeaderBytes: maxHeaderBytes,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        dialTimeout,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if len(via) > f.config.MaxRedirects {
				return fmt.Errorf("more than %d redirects: %w", f.config.MaxRedirects, fault.ErrInvalid)
			}
			err := f.check(next.URL)
			if err == nil && next.URL.Scheme == "file" {
				err = fmt.Errorf("that is a local file: %w", fault.ErrInvalid)
			}
			if err != nil {
				return fmt.Errorf("redirected to %s: %w", shorten(next.URL.Redacted()), err)
			}
			return nil
		},
	}
}

// request asks for uri, and returns once the answer's header is in. The caller
// closes the transfer. most limits the decoded body.
func (f *Fetcher) request(ctx context.Context, uri string, header http.Header, most int64) (*transfer, error) {
	return f.send(ctx, http.MethodGet, uri, header, nil, most)
}

func (f *Fetcher) send(ctx context.Context, method, uri string, header http.Header, content []byte, most int64) (*transfer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	watch := newWatch(f.config.Stall, stop)
	fail := func(err error) (*transfer, error) {
		watch.Stop()
		stop(nil)
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, uri, bytes.NewReader(content))
	if err != nil {
		return fail(fmt.Errorf("%w: %w", err, fault.ErrInvalid))
	}
	req.Header = header.Clone()
	req.Header.Set("User-Agent", userAgent)
	resp, err := f.client.Do(req)
	if err != nil {
		return fail(transportError(ctx, err))
	}
	watch.progress(stallBytes)
	b := &body{}
	if err = statusError(resp); err == nil {
		b, err = newBody(ctx, resp, watch, most)
	}
	if err != nil {
		resp.Body.Close()
		return fail(err)
	}
	return &transfer{resp, b, stop}, nil
}

// transportError gives an error of a connection its kind.
func transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// The client's error repeats the URL around what CheckRedirect and the
	// dialler returned.
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	if errors.Is(err, fault.ErrInvalid) {
		return err
	}
	return fmt.Errorf("%w: %w", err, fault.ErrUnavailable)
}

func statusError(r *http.Response) error {
	kind := fault.ErrInvalid
	switch code := r.StatusCode; {
	case code == http.StatusOK, code == http.StatusNonAuthoritativeInfo, code == http.StatusNotModified:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone:
		kind = fault.ErrNotFound
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests:
		kind = fault.ErrUnavailable
	}
	err := fmt.Errorf("the server answered %d %s: %w", r.StatusCode, http.StatusText(r.StatusCode), kind)
	if after := retryAfter(r); after > 0 {
		return &impatient{err, after}
	}
	return err
}

// Document returns the whole content of a small document, such as a feed, at
// most maxBytes of it after decoding. It is not cached.
func (f *Fetcher) Document(ctx context.Context, uri string, maxBytes int64) ([]byte, error) {
	u, err := f.parse(uri)
	if err != nil {
		return nil, err
	}
	var content []byte
	if u.Scheme == "file" {
		content, err = f.localDocument(ctx, u.Path, maxBytes)
	} else {
		content, err = f.remoteDocument(ctx, uri, maxBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	return content, nil
}

// Post sends content to a URL and returns the beginning of the answer, at most
// maxBytes of it; what would come after is not waited for.
func (f *Fetcher) Post(ctx context.Context, uri string, header http.Header, content []byte, maxBytes int64) ([]byte, error) {
	u, err := f.parse(uri)
	if err == nil && u.Scheme == "file" {
		err = fmt.Errorf("a file takes nothing: %w", fault.ErrInvalid)
	}
	if err != nil {
		return nil, err
	}
	t, err := f.send(ctx, http.MethodPost, uri, header, content, math.MaxInt64)
	if err != nil {
		return nil, fmt.Errorf("post %s: %w", u.Redacted(), err)
	}
	defer t.close()
	answer, err := io.ReadAll(io.LimitReader(t.body, maxBytes))
	if err != nil {
		return nil, fmt.Errorf("post %s: %w", u.Redacted(), err)
	}
	return answer, nil
}

func (f *Fetcher) remoteDocument(ctx context.Context, uri string, most int64) ([]byte, error) {
	t, err := f.request(ctx, uri, http.Header{"Accept-Encoding": {"gzip"}}, most)
	if err != nil {
		return nil, err
	}
	defer t.close()
	return io.ReadAll(t.body)
}

func (f *Fetcher) localDocument(ctx context.Context, path string, most int64) ([]byte, error) {
	src, _, err := f.roots.open(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	content, err := io.ReadAll(io.LimitReader(&interruptible{ctx, src}, most+1))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, kindOf(err)
	case int64(len(content)) > most:
		return nil, tooLarge(most)
	}
	return content, nil
}
