package remote

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
	tryTimeout  = time.Minute
	bulkTimeout = 5 * time.Minute // of what carries a listing
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
		return nil, fmt.Errorf("catalog/remote: %q: %w: the URL of a coordinator is wanted, such as http://127.0.0.1:7412", base, fault.ErrInvalid)
	}
	return &Client{base: u.JoinPath("/api/v1/"), http: &http.Client{
		// No proxy: the coordinator is ours.
		Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, IdleConnTimeout: tryTimeout},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // the API sends nobody elsewhere
		},
	}}, nil
}

// Close waits for calls under way, and gives up the connections.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.calls.Wait()
	c.http.CloseIdleConnections()
	return nil
}

// call is one request that may be repeated.
type call struct {
	method, path string // path below /api/v1/
	query        url.Values
	body         any // nil: none
	answer       any // nil: none is wanted
	timeout      time.Duration
}

// mayPass reports whether it makes sense to try again: the outcome is unknown, or
// the coordinator has too much to do.
func mayPass(err error) bool {
	return errors.Is(err, fault.ErrUnavailable) || errors.Is(err, fault.ErrOverloaded)
}

// do calls, and again while that may help.
func (c *Client) do(ctx context.Context, x call) error {
	op := "catalog/remote: " + x.method + " " + x.path
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fmt.Errorf("%s: the catalog is %w", op, fault.ErrClosed)
	}
	c.calls.Add(1)
	c.mu.Unlock()
	defer c.calls.Done()
	var data []byte
	if x.body != nil {
		var err error
		if data, err = json.Marshal(x.body); err != nil {
			return fmt.Errorf("%s: %w: %w", op, fault.ErrInvalid, err)
		}
	}
	pause := firstPause
	for try := 1; ; try++ {
		err := c.once(ctx, x, data)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", op, context.Cause(ctx))
		}
		if try == tries || !mayPass(err) {
			return fmt.Errorf("%s: %w", op, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause *= 2
	}
}

// once sends one request and reads its answer.
func (c *Client) once(ctx context.Context, x call, data []byte) error {
	if x.timeout == 0 {
		x.timeout = tryTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, x.timeout)
	defer cancel()
	u := c.base.JoinPath(x.path)
	u.RawQuery = x.query.Encode()
	r, err := http.NewRequestWithContext(ctx, x.method, u.String(), bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	if x.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", fault.ErrUnavailable, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", fault.ErrUnavailable, err)
	case len(answer) > maxAnswer:
		return fmt.Errorf("the answer: %w: more than %d bytes", fault.ErrTooLarge, maxAnswer)
	case resp.StatusCode >= 300:
		return refused(resp, answer)
	case x.answer == nil:
		return nil
	}
	if err := json.Unmarshal(answer, x.answer); err != nil {
		return fmt.Errorf("the answer: %w: %w", fault.ErrCorrupt, err)
	}
	return nil
}

// refused is the error that a problem document stands for. What is no such
// document comes from something between, such as a proxy that finds nobody.
func refused(resp *http.Response, answer []byte) error {
	var p struct{ Code, Detail string }
	if err := json.Unmarshal(answer, &p); err != nil || p.Code == "" {
		if resp.StatusCode >= 500 {
			return fmt.Errorf("%w: %s", fault.ErrUnavailable, resp.Status)
		}
		return fmt.Errorf("%w: %s, and no word of a coordinator", fault.ErrInvalid, resp.Status)
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
