package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/build"
)

// A transfer is a request and its response.
type transfer struct {
	*http.Response
	body *body // decoded and limited
	stop context.CancelCauseFunc
}

// close ends a transfer: the watch over stalled ones, its context and its body.
func (t *transfer) close() {
	t.body.stall.stop()
	t.stop(nil)
	t.Body.Close()
}

// newClient returns the client of all requests. It checks each redirect and each dialled address, so it uses no
// proxy, which would dial without these checks. A redirect to another server, also to a subdomain or another
// port, loses the Authorization. The client does not decode bodies; body does it with limits.
func (f *Fetcher) newClient() *http.Client {
	return &http.Client{
		Transport: polite{fetcher: f, Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            f.guard.dial,
			DisableCompression:     true,
			TLSHandshakeTimeout:    dialTimeout,
			MaxResponseHeaderBytes: maxHeaderBytes,
			IdleConnTimeout:        dialTimeout,
			ForceAttemptHTTP2:      true,
		}},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if len(via) > f.config.MaxRedirects {
				return fmt.Errorf("more than %d redirects: %w", f.config.MaxRedirects, fault.ErrInvalid)
			}
			err := f.check(next.URL)
			if err == nil && next.URL.Scheme == "file" {
				err = fmt.Errorf("a redirect must not lead to a local file: %w", fault.ErrInvalid)
			}
			if h := hopsOf(next.Context()); h != nil && next.Response != nil {
				h.noteRedirect(next.Response.StatusCode, next.URL)
			}
			if !sameServer(next.URL, via[0].URL) {
				next.Header.Del("Authorization")
			}
			if err != nil {
				return fmt.Errorf("redirected to %s: %w", shorten(next.URL.Redacted()), err)
			}
			return nil
		},
	}
}

// send sends a request, and returns once the header of the response has arrived. The status of the response is a
// success or 304; others are errors with their kinds (statusError). The caller closes the transfer. maxBytes
// limits the decoded body.
func (f *Fetcher) send(ctx context.Context, method, uri string, header http.Header, content []byte, maxBytes int64) (*transfer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	stall := newStallTimer(f.config.Stall, stop)
	fail := func(err error) (*transfer, error) {
		stall.stop()
		stop(nil)
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, uri, bytes.NewReader(content))
	if err != nil {
		return fail(fmt.Errorf("%w: %w", err, fault.ErrInvalid))
	}
	req.Header = header.Clone()
	req.Header.Set("User-Agent", build.UserAgent(f.config.Contact))
	h := hopsOf(ctx)
	if h != nil {
		h.stall = stall
	}
	resp, err := f.client.Do(req)
	noteAnswered(ctx, h)
	if err != nil {
		return fail(transportError(ctx, err))
	}
	stall.noteProgress(stallBytes) // the header counts as progress, so the time for the body begins
	var b *body
	if err = statusError(resp); err == nil {
		b, err = newBody(ctx, resp, stall, maxBytes)
	}
	if err != nil {
		resp.Body.Close()
		return fail(err)
	}
	return &transfer{resp, b, stop}, nil
}

// transportError returns an error of a connection with its kind: the cause of ctx if that has
// ended, fault.ErrInvalid if an address was refused, otherwise fault.ErrUnavailable. A failure to
// dial is one of the host (FaultOf).
func transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// Without the URL, which the message has already.
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	if errors.Is(err, fault.ErrInvalid) {
		return err
	}
	err = fmt.Errorf("%w: %w", err, fault.ErrUnavailable)
	var dialled *net.OpError
	if errors.As(err, &dialled) && dialled.Op == "dial" {
		return &failure{err, models.HostFault}
	}
	return err
}

// failure is an error with its kind of fault.
type failure struct {
	error
	kind models.Fault
}

// Unwrap returns the error with its kind.
func (e *failure) Unwrap() error { return e.error }

// FaultOf returns the kind of fault of an error of this package; empty: of no such kind.
// A name that does not resolve and a refused connection are models.HostFault.
func FaultOf(err error) models.Fault {
	var f *failure
	if errors.As(err, &f) {
		return f.kind
	}
	return ""
}

// refusal is an error of a setting of this Fetcher, or of a malformed address.
type refusal struct{ error }

// Unwrap returns the error with its kind.
func (e *refusal) Unwrap() error { return e.error }

// Refused reports whether an error of Fetch means that the settings refuse what was to be fetched: its address, the
// address that it resolves or is redirected to, or its size. Then a retry fails in the same way unless a setting, the
// address or the answer changes. All other errors of Fetch can pass.
func Refused(err error) bool {
	var r *refusal
	return errors.As(err, &r) || errors.Is(err, fault.ErrTooLarge)
}

// statusFailure is an answer with the status of an error.
type statusFailure struct {
	error
	code int
}

// Unwrap returns the error with its kind.
func (e *statusFailure) Unwrap() error { return e.error }

// refusedByServer reports whether an error is an answer of the server that asking again
// would not change (4xx, but neither a time-out nor too many requests).
func refusedByServer(err error) bool {
	var f *statusFailure
	return errors.As(err, &f) && f.code/100 == 4 && !errors.Is(err, fault.ErrUnavailable)
}

// Without a Retry-After, a 429 or 503 asks for as long as this.
const busyFor = time.Hour

// statusError returns an error with its kind for any status but a success and 304, and 206 for a part that was asked
// for: fault.ErrNotFound, fault.ErrUnavailable if it may pass, otherwise fault.ErrInvalid. It is a *retryError if the
// server has a rate limit or asks to wait.
func statusError(r *http.Response) error {
	kind := fault.ErrInvalid
	switch code := r.StatusCode; {
	case isPost(r) && (code == http.StatusAccepted || code == http.StatusNoContent):
		return nil
	case code == http.StatusPartialContent && r.Request != nil && r.Request.Header.Get("Range") != "":
		return nil
	case code == http.StatusOK, code == http.StatusNonAuthoritativeInfo, code == http.StatusNotModified:
		return nil
	case code == http.StatusNotFound, code == http.StatusGone:
		kind = fault.ErrNotFound
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests:
		kind = fault.ErrUnavailable
	}
	var err error = &statusFailure{fmt.Errorf("the server answered %d %s: %w", r.StatusCode, http.StatusText(r.StatusCode), kind), r.StatusCode}
	if r.StatusCode == http.StatusGone {
		err = &failure{err, models.GoneFault}
	}
	after := retryAfter(r)
	if code := r.StatusCode; after == 0 && (code == http.StatusForbidden || code == http.StatusTooManyRequests) {
		after = limitedFor(r.Header)
	}
	asked := after
	if busy := r.StatusCode == http.StatusTooManyRequests || r.StatusCode == http.StatusServiceUnavailable; busy && after == 0 {
		after = busyFor
	}
	if after > 0 {
		return &retryError{err, after, asked}
	}
	return err
}

// isPost reports whether a response is to a POST. Its answer need not have a document.
func isPost(r *http.Response) bool { return r.Request != nil && r.Request.Method == http.MethodPost }

// Post sends content to an http(s) URL and returns the first maxBytes of the response; it does not wait for the
// rest. It fails with fault.ErrInvalid for the URI of a file.
func (f *Fetcher) Post(ctx context.Context, uri string, header http.Header, content []byte, maxBytes int64) ([]byte, error) {
	u, err := f.parse(uri)
	if err == nil && u.Scheme == "file" {
		err = fmt.Errorf("want an http(s) URL: %w", fault.ErrInvalid)
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
