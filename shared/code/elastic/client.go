package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
)

// Bounds of requests.
const (
	maxAnswer      = 96 << 20 // bytes: texts of 8 MiB may be escaped
	maxErrorText   = 500      // bytes of a reason that errors repeat
	attemptTimeout = time.Minute
	retryFor       = time.Minute // how long a call is repeated
	maxConnections = 16
)

// client sends requests to a server.
type client struct {
	base     string // without credentials and the last slash
	user     *url.Userinfo
	http     *http.Client
	retryFor time.Duration
}

// newClient returns a client of the server at base, which may have a user and a password. It does
// not follow redirects. If transport is nil, it uses the default of net/http with bounded
// connections.
func newClient(base string, transport http.RoundTripper) (*client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
		// The text is not repeated, because it may have a password.
		return nil, fmt.Errorf("URL of the search server: %w: want one such as http://127.0.0.1:9200", fault.ErrInvalid)
	}
	user := u.User
	u.User = nil
	if transport == nil {
		transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: maxConnections, MaxConnsPerHost: maxConnections, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: 10 * time.Second,
		}
	}
	return &client{base: strings.TrimSuffix(u.String(), "/"), user: user, retryFor: retryFor, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// A call is one request. It is repeated after errors, so it must be one that may be repeated.
type call struct {
	method, path string
	query        url.Values
	body         []byte
	isNDJSON     bool // body is lines of JSON
	answer       any  // decoded from JSON; nil ignores the answer
}

// asJSON encodes v, which has no type that JSON lacks.
func asJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // documents and queries of this package can be encoded
	return b.Bytes()
}

// statusError is the answer of a server that refused a request.
type statusError struct {
	status     int
	kind       error // of package fault
	what       string
	text       string
	errorType  string        // as the server names it; may be empty
	retryAfter time.Duration // 0 if the server does not ask for a pause
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s: %v: the search server answers %d %s", e.what, e.kind, e.status, e.text)
}
func (e *statusError) Unwrap() error { return e.kind }

// do sends a request until it is answered, and decodes the answer. After an error that can pass
// it sends the request again, with pauses that grow and are at least as long as the server asks
// for, until retryFor has passed. Then it returns the last error.
func (c *client) do(ctx context.Context, x call) error {
	backoff := retry.Backoff{Min: 200 * time.Millisecond, Max: 10 * time.Second}.WithDefaults()
	began := time.Now()
	for pause := backoff.First(); ; pause = backoff.Next(pause) {
		err := c.attempt(ctx, x)
		if err == nil || !retry.CanPass(err) || ctx.Err() != nil {
			return err
		}
		if failed := (*statusError)(nil); errors.As(err, &failed) {
			pause = max(pause, failed.retryAfter)
		}
		if time.Since(began)+pause > c.retryFor || !sleep(ctx, pause) {
			return err
		}
	}
}

// sleep waits, and returns false if ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt sends a request once and decodes the answer. If parent ends, it returns its cause; if
// only the time of the attempt ends, fault.ErrUnavailable, so that do sends the request again.
func (c *client) attempt(parent context.Context, x call) error {
	ctx, cancel := context.WithTimeout(parent, attemptTimeout)
	defer cancel()
	request, err := c.newRequest(ctx, x)
	if err != nil {
		return err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		if parent.Err() != nil {
			return context.Cause(parent)
		}
		return fmt.Errorf("search server: %w: %w", fault.ErrUnavailable, err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case parent.Err() != nil:
		return context.Cause(parent)
	case err != nil:
		return fmt.Errorf("%s %s: %w: the answer is broken off: %w", x.method, x.path, fault.ErrUnavailable, err)
	case len(data) > maxAnswer:
		return fmt.Errorf("%s %s: %w: the answer has more than %d bytes", x.method, x.path, fault.ErrTooLarge, maxAnswer)
	case answer.StatusCode >= 300:
		return refusal(x, answer, data)
	case x.answer == nil:
		return nil
	}
	if err := json.Unmarshal(data, x.answer); err != nil {
		return fmt.Errorf("%s %s: %w: the answer is not one of a search server: %w", x.method, x.path, fault.ErrInvalid, err)
	}
	return nil
}

// newRequest returns the request of a call, with the user and password of the URL.
func (c *client) newRequest(ctx context.Context, x call) (*http.Request, error) {
	target := c.base + "/" + x.path
	if len(x.query) > 0 {
		target += "?" + x.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, x.method, target, bytes.NewReader(x.body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %w", x.method, x.path, fault.ErrInvalid, err)
	}
	if x.isNDJSON {
		request.Header.Set("Content-Type", "application/x-ndjson")
	} else if len(x.body) > 0 {
		request.Header.Set("Content-Type", "application/json")
	}
	if password, ok := c.user.Password(); ok || c.user.Username() != "" {
		request.SetBasicAuth(c.user.Username(), password)
	}
	return request, nil
}

// refusal returns the error of an answer with a status of 300 or more. It keeps a pause of at most
// an hour from the header Retry-After, and the reason if the answer has one.
func refusal(x call, answer *http.Response, data []byte) error {
	e := &statusError{status: answer.StatusCode, kind: kindOf(answer.StatusCode), what: x.method + " " + x.path}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.retryAfter = time.Duration(min(seconds, 3600)) * time.Second
	}
	var body struct {
		Error failure `json:"error"`
	}
	if json.Unmarshal(data, &body) == nil {
		e.errorType, e.text = body.Error.Type, body.Error.String()
	}
	return e
}

// failure is an error as servers report it.
type failure struct {
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// UnmarshalJSON also reads an error that is a text only, as for a missing alias.
func (f *failure) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &f.Reason)
	}
	type plain failure
	return json.Unmarshal(data, (*plain)(f))
}

func (f failure) String() string {
	text := f.Type + ": " + f.Reason
	return strings.ToValidUTF8(text[:min(len(text), maxErrorText)], "")
}

// kindOf returns the kind of error of a status, such as fault.ErrNotFound for 404; one from 500
// gives fault.ErrUnavailable, which is tried again, and one not listed fault.ErrInvalid.
func kindOf(status int) error {
	switch status {
	case http.StatusUnauthorized:
		return fault.ErrUnauthenticated
	case http.StatusForbidden:
		return fault.ErrForbidden
	case http.StatusNotFound:
		return fault.ErrNotFound
	case http.StatusConflict:
		return fault.ErrConflict
	case http.StatusRequestEntityTooLarge:
		return fault.ErrTooLarge
	case http.StatusTooManyRequests:
		return fault.ErrOverloaded
	}
	if status >= 500 {
		return fault.ErrUnavailable
	}
	return fault.ErrInvalid
}

// shards is how many parts of an index have answered.
type shards struct {
	Failed   int            `json:"failed"`
	Failures []shardFailure `json:"failures"`
}

type shardFailure struct {
	Reason failure `json:"reason"`
}

// requireAll returns fault.ErrUnavailable with the first reason if a part of an index has not
// answered, because the result would lack documents. what names the request.
func (s shards) requireAll(what string) error {
	if s.Failed == 0 {
		return nil
	}
	reason := ""
	if len(s.Failures) > 0 {
		reason = s.Failures[0].Reason.String()
	}
	return fmt.Errorf("%s: %w: %d shards of the search server failed: %s", what, fault.ErrUnavailable, s.Failed, reason)
}
