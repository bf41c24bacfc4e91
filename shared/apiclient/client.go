package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"leasehold/shared/fault"
)

// Bounds of a call.
const (
	maxAnswer   = 64 << 20 // bytes
	connections = 16
	tries       = 5
	firstPause  = 100 * time.Millisecond // doubled after each try, and jittered
	tryTimeout  = time.Minute            // of a call that does not say
)

// Client calls the API. It may be used concurrently.
type Client struct {
	base  *url.URL
	http  *http.Client
	calls sync.WaitGroup // under way

	mu     sync.Mutex // guards closed
	closed bool
}

// New returns a client of the API at base, such as http://127.0.0.1:7412. It
// connects when it is first used.
func New(base string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%q: %w: the URL of a coordinator is wanted, such as http://127.0.0.1:7412", base, fault.ErrInvalid)
	}
	return &Client{base: u, http: &http.Client{
		// No proxy: the coordinator is ours.
		Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, IdleConnTimeout: tryTimeout},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the API sends nobody elsewhere
		},
	}}, nil
}

// Base returns the URL that the client calls.
func (c *Client) Base() string { return c.base.String() }

// Close waits for calls under way, and gives up the connections. Later calls are
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
	Body         any // nil: none
	Answer       any // nil: none is wanted
	Timeout      time.Duration
	Repeat       bool // it changes nothing to ask twice: try again while that may help
}

// mayPass reports whether it makes sense to try again: the outcome is unknown, or
// the coordinator has too much to do.
func mayPass(err error) bool {
	return errors.Is(err, fault.ErrUnavailable) || errors.Is(err, fault.ErrOverloaded)
}

// Do calls, and returns the status of the answer.
func (c *Client) Do(ctx context.Context, x Call) (status int, err error) {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return 0, fmt.Errorf("the client of %s is %w", c.base, fault.ErrClosed)
	}
	c.calls.Add(1)
	c.mu.Unlock()
	defer c.calls.Done()
	var data []byte
	if x.Body != nil {
		if data, err = json.Marshal(x.Body); err != nil {
			return 0, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
		}
	}
	pause := firstPause
	for try := 1; ; try++ {
		status, err := c.once(ctx, x, data)
		if err == nil {
			return status, nil
		}
		if ctx.Err() != nil {
			return status, context.Cause(ctx)
		}
		if try == tries || !x.Repeat || !mayPass(err) {
			return status, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause *= 2
	}
}

// once sends one request and reads its answer.
func (c *Client) once(ctx context.Context, x Call, data []byte) (status int, err error) {
	if x.Timeout == 0 {
		x.Timeout = tryTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, x.Timeout)
	defer cancel()
	u := c.base.JoinPath("/api/v1/", x.Path)
	u.RawQuery = x.Query.Encode()
	r, err := http.NewRequestWithContext(ctx, x.Method, u.String(), bytes.NewReader(data))
	if err != nil {
		return 0, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	if x.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, c.unreached(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return 0, c.unreached(err)
	case len(answer) > maxAnswer:
		return resp.StatusCode, fmt.Errorf("the answer of %s: %w: more than %d bytes", c.base, fault.ErrTooLarge, maxAnswer)
	case resp.StatusCode >= 300:
		return resp.StatusCode, c.refused(resp, answer)
	case x.Answer == nil:
		return resp.StatusCode, nil
	}
	if err := json.Unmarshal(answer, x.Answer); err != nil {
		return resp.StatusCode, fmt.Errorf("the answer of %s: %w: %w", c.base, fault.ErrCorrupt, err)
	}
	return resp.StatusCode, nil
}

// unreached is the error of a request that had no answer.
func (c *Client) unreached(err error) error {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err // without the URL, which is said already
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("no answer in time")
	}
	return fmt.Errorf("the coordinator at %s is %w: %w", c.base, fault.ErrUnavailable, err)
}

// refused is the error that a problem document stands for. What is no such
// document comes from something between, such as a proxy that finds nobody, or
// from a server that is no coordinator.
func (c *Client) refused(resp *http.Response, answer []byte) error {
	var p struct{ Code, Detail string }
	if err := json.Unmarshal(answer, &p); err != nil || p.Code == "" {
		return fmt.Errorf("the coordinator at %s is %w: %s, and no word of a coordinator", c.base, fault.ErrUnavailable, resp.Status)
	}
	if kind := fault.FromCode(p.Code); kind != nil {
		return told{kind, p.Detail}
	}
	return errors.New(p.Detail)
}

// told is an error as the coordinator worded it, which names the kind already.
type told struct {
	kind   error
	detail string
}

func (t told) Error() string { return t.detail }
func (t told) Unwrap() error { return t.kind }
