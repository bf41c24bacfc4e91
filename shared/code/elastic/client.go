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

	fastjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
	nodes         *nodes
	authorization string // the header; "" for the users of the URLs
	http          *http.Client
	retryFor      time.Duration
	waits         waits
}

// newClient returns a client of the server with the addresses in c.URL. It does not follow redirects. Without a
// transport it uses newTransport.
func newClient(c Config) (*client, error) {
	nodes, err := newNodes(c.URL)
	if err != nil {
		return nil, err
	}
	authorization, err := c.Access.authorization()
	if err != nil {
		return nil, err
	}
	transport := c.Transport
	if transport == nil {
		if transport, err = newTransport(c); err != nil {
			return nil, err
		}
	}
	return &client{nodes: nodes, authorization: authorization, retryFor: retryFor, waits: waits{log: c.Log}, http: &http.Client{
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
// for, until retryFor has passed. Then it returns the last error. A request to a node that is away
// goes to another one at once.
func (c *client) do(ctx context.Context, x call) error {
	backoff := retry.Backoff{Min: 200 * time.Millisecond, Max: 10 * time.Second}.WithDefaults()
	began := time.Now()
	for pause := backoff.First(); ; pause = backoff.Next(pause) {
		at := c.nodes.pick()
		sent := time.Now()
		answered := c.waits.watch(x.isNDJSON)
		err := c.attempt(ctx, c.nodes.all[at], x)
		answered()
		if err == nil && !x.isNDJSON { // the answer to writes may have refusals
			c.waits.accepted(false)
		}
		if err == nil || !retry.CanPass(err) || ctx.Err() != nil {
			return err
		}
		if isAway(err) && c.nodes.rest(at) {
			continue
		}
		c.waits.refused(x.isNDJSON, sent, err)
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

// lenient accepts answers as encoding/json does. fastjson reads a text once, and encoding/json three times.
var lenient = fastjson.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// attempt sends a request once and decodes the answer. If parent ends, it returns its cause; if
// only the time of the attempt ends, fault.ErrUnavailable, so that do sends the request again.
func (c *client) attempt(parent context.Context, to node, x call) error {
	ctx, cancel := context.WithTimeout(parent, attemptTimeout)
	defer cancel()
	request, err := c.newRequest(ctx, to, x)
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
	data, err := readAll(answer)
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
	if err := fastjson.Unmarshal(data, x.answer, lenient); err != nil {
		return fmt.Errorf("%s %s: %w: the answer is not one of a search server: %w", x.method, x.path, fault.ErrInvalid, err)
	}
	return nil
}

// readAll reads the body of an answer, and at most one byte more than maxAnswer.
func readAll(answer *http.Response) ([]byte, error) {
	var body bytes.Buffer
	if n := answer.ContentLength; n > 0 {
		body.Grow(int(min(n, maxAnswer)) + bytes.MinRead)
	}
	_, err := body.ReadFrom(io.LimitReader(answer.Body, maxAnswer+1))
	return body.Bytes(), err
}

// newRequest returns the request of a call to a node, with the key or token, or the user and password of the URL.
func (c *client) newRequest(ctx context.Context, to node, x call) (*http.Request, error) {
	target := to.base + "/" + x.path
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
	if password, ok := to.user.Password(); ok || to.user.Username() != "" {
		request.SetBasicAuth(to.user.Username(), password)
	}
	if c.authorization != "" {
		request.Header.Set("Authorization", c.authorization)
	}
	return request, nil
}

// refusal returns the error of an answer with a status of 300 or more. It keeps a pause of at most
// an hour from the header Retry-After, and the reason if the answer has one.
func refusal(x call, answer *http.Response, data []byte) error {
	e := &statusError{status: answer.StatusCode, kind: kindOf(answer.StatusCode, ""), what: x.method + " " + x.path}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		e.retryAfter = time.Duration(min(seconds, 3600)) * time.Second
	}
	var body struct {
		Error failure `json:"error"`
	}
	if json.Unmarshal(data, &body) == nil {
		e.errorType, e.text = body.Error.Type, body.Error.String()
		e.kind = kindOf(e.status, e.errorType)
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

// clusterBlock is the type of the error of a server that refuses writes for now, as when its disk is full. Some versions
// answer it with 429, and others with 403.
const clusterBlock = "cluster_block_exception"

// kindOf returns the kind of error of a status and the server's type of error, such as fault.ErrNotFound for 404; one from
// 500 gives fault.ErrUnavailable, which is tried again, and one not listed fault.ErrInvalid.
func kindOf(status int, errorType string) error {
	if errorType == clusterBlock {
		return fault.ErrOverloaded
	}
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
