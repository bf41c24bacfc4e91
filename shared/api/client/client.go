package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
)

const (
	maxResponse    = 64 << 20 // bytes
	maxConnections = 16
	maxTries       = 5
	firstPause     = 100 * time.Millisecond // doubled after each try, with jitter
	defaultTimeout = time.Minute            // of one try
	connectTimeout = 5 * time.Second        // of each of several coordinators
)

// Options are how a client proves who it is, and recognises the coordinator.
type Options struct {
	Token string      // sent with each request; empty: none
	TLS   *tls.Config // nil: the certificate must be of a CA that the system knows
	// Dial, if not nil, opens each connection, with its TLS if the base is https. It decides the address itself. If the
	// coordinator refuses a call without a token over a connection from before, the client repeats it over a new one.
	Dial func(ctx context.Context) (net.Conn, error)
}

// Client calls the API. It may be used concurrently.
type Client struct {
	members []*member
	first   atomic.Pointer[member] // the one that answered last
	token   string
	http    *http.Client
	calls   sync.WaitGroup // in progress

	mu     sync.Mutex // guards closed
	closed bool
}

// New returns a client of the API at base, such as http://127.0.0.1:7412. It connects on
// first use. Several URLs, separated by commas, are of coordinators that stand by for each other: a call goes to the
// one that answered last, and to the next one at once if it cannot be reached or stands by. While none serves, a call waits
// for some seconds, unless it may have been executed and must not be repeated.
func New(base string) (*Client, error) { return NewWith(base, Options{}) }

// NewWith is New with options.
func NewWith(base string, o Options) (*Client, error) {
	members, err := membersOf(base)
	if err != nil {
		return nil, err
	}
	// Without a proxy, because the coordinator is on the same machine or network.
	transport := &http.Transport{MaxIdleConnsPerHost: maxConnections, MaxConnsPerHost: maxConnections, IdleConnTimeout: time.Minute, TLSClientConfig: o.TLS}
	if len(members) > 1 {
		transport.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	}
	if o.Dial != nil {
		dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return o.Dial(ctx) }
		transport.DialContext, transport.DialTLSContext = dial, dial
	}
	var sender http.RoundTripper = transport
	if o.Dial != nil && o.Token == "" {
		sender = renewed{transport}
	}
	c := &Client{members: members, token: o.Token, http: &http.Client{
		Transport:     sender,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.first.Store(members[0])
	return c, nil
}

// Base returns the URL that the client calls: of several, the one that answered last.
func (c *Client) Base() string { return c.first.Load().url.String() }

// Close waits for calls in progress and closes the connections. Later calls fail with
// fault.ErrClosed.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.calls.Wait()
	c.http.CloseIdleConnections()
	return nil
}

// A Call is one request.
type Call struct {
	Method, Path string // path below /api/v1/, escaped
	Query        url.Values
	Body         any           // nil: none; types.Octets are sent as they are, all else as JSON
	Answer       any           // pointer into which the response is decoded; nil: it is not read
	Timeout      time.Duration // of one try; 0: one minute
	Repeat       bool          // retry transient errors; set it only if a second execution changes nothing
	Operation    string        // operation id, with which transient errors are retried too; only for routes that take one
}

// transient reports whether a retry may succeed: the coordinator could not be reached, or
// is overloaded.
func transient(err error) bool {
	return errors.Is(err, fault.ErrUnavailable) || errors.Is(err, fault.ErrOverloaded)
}

// Do sends a request, decodes the response into x.Answer, and returns its status; 0 if
// there was no response. Errors have the kind that the coordinator reports,
// fault.ErrUnavailable if it cannot be reached, or are the cause of ctx. With Repeat
// or an Operation, transient errors are retried at most maxTries times, and not once x.Timeout has
// passed.
func (c *Client) Do(ctx context.Context, x Call) (status int, err error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return 0, fmt.Errorf("client of %s: %w", c.Base(), fault.ErrClosed)
	}
	c.calls.Add(1)
	c.mu.Unlock()
	defer c.calls.Done()
	if x.Operation != "" && !isKey(x.Operation) {
		return 0, fmt.Errorf("operation id %q: %w: want 1 to 128 visible characters of ASCII", x.Operation, fault.ErrInvalid)
	}
	data, mediaType, err := encodeBody(x.Body)
	if err != nil {
		return 0, err
	}
	pause, began := firstPause, time.Now()
	mayRepeat := x.Repeat || x.Operation != ""
	for try := 1; ; try++ {
		status, err := c.follow(ctx, mayRepeat || x.Method == http.MethodGet, func(at *member) (int, error) { return c.tryOnce(ctx, at, x, data, mediaType) })
		if err == nil {
			return status, nil
		}
		if ctx.Err() != nil {
			return status, context.Cause(ctx)
		}
		// A coordinator that accepts connections and does not answer is not asked again.
		if !mayRepeat || !transient(err) || try == maxTries || time.Since(began) >= cmp.Or(x.Timeout, defaultTimeout) {
			return status, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause *= 2
	}
}

// encodeBody returns a body as it is sent, and its media type, which is empty if there is no body.
func encodeBody(body any) (data []byte, mediaType string, err error) {
	switch body := body.(type) {
	case nil:
		return nil, "", nil
	case types.Octets:
		return body, types.OctetType, nil
	}
	if data, err = json.Marshal(body); err != nil {
		return nil, "", fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return data, "application/json", nil
}

// tryOnce is one try of Do, at one coordinator. data is x.Body as it is sent.
func (c *Client) tryOnce(ctx context.Context, at *member, x Call, data []byte, mediaType string) (status int, err error) {
	if x.Timeout == 0 {
		x.Timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, x.Timeout)
	defer cancel()
	r, err := c.newRequest(ctx, at, x.Method, x.Path, x.Query, data)
	if err != nil {
		return 0, err
	}
	if mediaType != "" {
		r.Header.Set("Content-Type", mediaType)
	}
	if x.Operation != "" {
		r.Header.Set("Idempotency-Key", x.Operation)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, at.unreachable(err)
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	switch {
	case err != nil:
		return 0, at.unreachable(err)
	case len(data) > maxResponse:
		return resp.StatusCode, fmt.Errorf("response of %s: %w: more than %d bytes", at.url, fault.ErrTooLarge, maxResponse)
	case resp.StatusCode >= 300:
		return resp.StatusCode, at.responseError(resp, data)
	case x.Answer == nil:
		return resp.StatusCode, nil
	}
	if err := json.Unmarshal(data, x.Answer); err != nil {
		return resp.StatusCode, fmt.Errorf("response of %s: %w: %w", at.url, fault.ErrCorrupt, err)
	}
	return resp.StatusCode, nil
}

// unreachable is the error of a request that got no response.
func (m *member) unreachable(err error) error {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err // without the URL, which the message has already
	}
	if errors.Is(err, context.DeadlineExceeded) && !isDialError(err) {
		err = errors.New("no response in time")
	}
	if errors.As(err, new(*tls.CertificateVerificationError)) {
		return fmt.Errorf("the coordinator at %s: %w: %w; name its CA (--ca)", m.url, fault.ErrUnauthenticated, err)
	}
	// What dials for a process that joins has told so already, with the address.
	if !errors.Is(err, fault.ErrInvalid) && (identity.IsWithoutTLS(err) || errors.Is(err, http.ErrSchemeMismatch)) {
		return fmt.Errorf("the coordinator at %s: %w: no TLS is spoken there: it does not authenticate its clients (leave out --token and --ca), or it is another program", m.url, fault.ErrInvalid)
	}
	if kind := fault.Of(err).Kind; kind != nil && kind != fault.ErrUnavailable { // of Options.Dial or the handshake of TLS
		return fmt.Errorf("the coordinator at %s: %w", m.url, err)
	}
	return fmt.Errorf("the coordinator at %s is %w: %w", m.url, fault.ErrUnavailable, err)
}

// responseError returns the error that a response reports. A response without a problem document came from a
// proxy in between or from another server, not from a coordinator.
func (m *member) responseError(resp *http.Response, data []byte) error {
	var p types.Problem
	if err := json.Unmarshal(data, &p); err != nil || p.Code == "" {
		if resp.StatusCode == http.StatusBadRequest && bytes.Contains(data, []byte("speaks TLS")) { // a plain request to the port of one that authenticates
			return fmt.Errorf("the coordinator at %s: %w: its port speaks TLS: name its CA (--ca) and a token (--token)", m.url, fault.ErrUnauthenticated)
		}
		return fmt.Errorf("the coordinator at %s is %w: %s, not from a coordinator", m.url, fault.ErrUnavailable, resp.Status)
	}
	kind := fault.FromCode(string(p.Code))
	switch {
	case kind == nil:
		return errors.New(p.Detail)
	case errors.Is(kind, fault.ErrUnavailable) && p.Owner != "":
		return standsBy{refusal{kind, p.Detail}, p.Owner}
	}
	return refusal{kind, p.Detail}
}

// refusal is an error of the coordinator. Its detail names the kind already.
type refusal struct {
	kind   error
	detail string
}

func (r refusal) Error() string { return r.detail }
func (r refusal) Unwrap() error { return r.kind }
