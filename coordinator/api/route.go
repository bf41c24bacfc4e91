package api

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/strictjson"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
	"leasehold/shared/protocol/idempotency"
)

// A route is one method on one path. serve checks a request against its declarations,
// and the OpenAPI document describes them.
type route struct {
	id                    string // operationId of the OpenAPI document
	method, path, summary string
	tag                   string       // one of tags
	links                 []link       // from its answer
	params                []param      // of the path and the query
	body                  reflect.Type // nil: the body is not read
	isOctets              bool         // the body may be application/octet-stream instead of JSON
	answer                reflect.Type // nil: the response has no body
	statuses              []int        // of successes; the first unless the handler sets another
	isStream              bool         // the answer is lines of JSON, each of the type answer
	isBulk                bool         // it may take bulkTimeout, and its body be maxListing bytes
	isWaiting             bool         // it may wait for long, with slots of its own
	isBeat                bool         // a heartbeat: the same, so that waiting claims and a flood of others stop none
	isExact               bool         // users and passwords of URLs stay in its answers
	isKeyed               bool         // it takes an idempotency key
	handle                func(context.Context, *request) (any, error)
}

// A link leads from a field of an answer to the operation that takes it as a parameter.
type link struct{ operation, param, field string }

// tagged gives the routes a tag.
func tagged(tag string, routes []route) []route {
	for i := range routes {
		routes[i].tag = tag
	}
	return routes
}

// none is the answer of a handler whose responses have no body.
type none struct{}

var inBraces = regexp.MustCompile(`{(\w+)}`)

// on declares a route without a body. path is relative to v1; its parameters in braces
// are ids, except those whose names may have any characters. query are the parameters of
// the query. If A is none, the status of a success is 204, otherwise 200.
func on[A any](id, method, path, summary string, h func(context.Context, *request) (A, error), query ...param) route {
	r := route{id: id, method: method, path: v1 + path, summary: summary, answer: reflect.TypeFor[A](), statuses: []int{http.StatusOK}}
	if r.answer == reflect.TypeFor[none]() {
		r.answer, r.statuses = nil, []int{http.StatusNoContent}
	}
	for _, m := range inBraces.FindAllStringSubmatch(path, -1) {
		p := param{name: m[1], in: "path", kind: idParam}
		if p.name == "space" || p.name == "session" || p.name == "limit" { // its name may have any characters
			p.kind = textParam
			if p.name == "limit" {
				p.schema = "someName"
			}
		} else if p.name == "schedule" {
			p.schema = "pattern: '^[A-Za-z0-9._:-]{1,100}$'"
		} else if p.name == "segment" {
			p.schema = "sha256"
		}
		r.params = append(r.params, p)
	}
	r.params = append(r.params, query...)
	r.handle = func(ctx context.Context, q *request) (any, error) { return h(ctx, q) }
	return r
}

// withBody declares a route whose requests must have a JSON object of type B as body. An empty body
// is {} if B has no required field.
func withBody[B, A any](id, method, path, summary string, h func(context.Context, *request, B) (A, error)) route {
	r := on(id, method, path, summary, func(ctx context.Context, q *request) (answer A, err error) {
		var body B
		if in, ok := q.Body.(*bodyInMemory); ok && len(in.data) == 0 && allOptional(reflect.TypeFor[B]()) {
			return h(ctx, q, body)
		}
		if err := decode(q.Body, &body); err != nil {
			return answer, err
		}
		return h(ctx, q, body)
	})
	r.body = reflect.TypeFor[B]()
	return r
}

// link declares that the field of an answer is the parameter of another operation.
func (r route) link(operation, param, field string) route {
	r.links = append(r.links, link{operation, param, field})
	return r
}

func (r route) returns(statuses ...int) route { r.statuses = statuses; return r }
func (r route) bulk() route                   { r.isBulk = true; return r }
func (r route) waits() route                  { r.isWaiting = true; return r }
func (r route) beats() route                  { r.isBeat = true; return r }
func (r route) exact() route                  { r.isExact = true; return r }

// octetsOr declares that a request has bytes as its body, or JSON of a type. The handler reads it.
func (r route) octetsOr(body reflect.Type) route { r.body, r.isOctets = body, true; return r }

// keyed declares that the changes of a request happen once for its idempotency key.
func (r route) keyed() route {
	r.isKeyed = true
	r.params = append(r.params, param{name: keyHeader, in: "header", schema: "pattern: '^[!-~]{1,128}$'", doc: keyDoc})
	return r
}

// isAudited reports whether a request of the route is a change by a person or a program. What only processes of the fleet
// do, tasks and their results show.
func (r route) isAudited() bool {
	return r.method != http.MethodGet && r.id != "readTuple" && roles[r.id].Meet(access.Producer|access.Admin)
}

// isForManagers reports whether the route is a method of the catalog or of the code index
// that managers and workers call.
func (r route) isForManagers() bool {
	return strings.HasPrefix(r.path, v1+"/catalog/") || strings.HasPrefix(r.path, v1+"/index/")
}

// A param is a parameter of a path, which is required, or of a query, which is not.
type param struct {
	name, doc string
	in        string // path or header; empty: query
	kind      paramKind
	absent    any    // the value if it is absent; nil: the zero value
	min, max  int    // of a number, which is 0 or more
	required  bool   // of a query
	schema    string // more constraints, as constrain reads them
}

type paramKind int

const (
	textParam paramKind = iota
	idParam
	numberParam
	flagParam
	timeParam
)

// page declares the parameters of a list, and more.
func page(maxItems int, more ...param) []param {
	offset := param{name: "offset", kind: numberParam, max: math.MaxInt32, doc: "number of items to skip"}
	return append([]param{offset, limit(100, maxItems)}, more...)
}

// limit is the parameter for the length of a page; absent is its value if a request has none.
func limit(absent, maxItems int) param {
	return param{name: "limit", kind: numberParam, absent: absent, max: maxItems, doc: "maximum number of items"}
}

// held is the parameter by which a request wants what is held, too; absent is as in limit.
func held(absent bool) param {
	return param{name: "held", kind: flagParam, absent: absent, doc: "include what is held"}
}

// read returns the value of a parameter that is given with these texts: p.absent or the zero value if there are
// none. It fails with fault.ErrInvalid if there are several, or none and one is required, or as parse.
func (p param) read(texts []string) (value any, err error) {
	switch {
	case len(texts) > 1:
		return nil, fmt.Errorf("%w: parameter %s is given %d times", fault.ErrInvalid, p.name, len(texts))
	case len(texts) == 1:
		return p.parse(texts[0])
	case p.required:
		return nil, fmt.Errorf("%w: parameter %s is missing", fault.ErrInvalid, p.name)
	case p.absent != nil:
		return p.absent, nil
	}
	return [...]any{textParam: "", idParam: "", numberParam: 0, flagParam: false, timeParam: time.Time{}}[p.kind], nil
}

// parse returns the value of a parameter: a string, an int, a bool or a time.
func (p param) parse(text string) (value any, err error) {
	switch {
	case p.kind == numberParam:
		n, err := strconv.Atoi(text)
		if err != nil || n < p.min || n > p.max {
			return nil, fmt.Errorf("%s %.64q: %w: want a whole number from %d to %d", p.name, text, fault.ErrInvalid, p.min, p.max)
		}
		return n, nil
	case p.kind == flagParam:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%s %.64q: %w: want true or false", p.name, text, fault.ErrInvalid)
		}
		return b, nil
	case p.kind == timeParam:
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return nil, fmt.Errorf("%s %.64q: %w: want a time in RFC 3339, such as 2026-11-23T08:00:00Z", p.name, text, fault.ErrInvalid)
		}
		return at, nil
	case p.kind == idParam && !models.ValidID(text):
		return nil, fmt.Errorf("%s %.64q: %w: %s", p.name, text, fault.ErrInvalid, models.IDRule)
	}
	return text, nil
}

// A request is an HTTP request whose parameters were checked, and what a handler sets for
// its response beside the body.
type request struct {
	*http.Request
	values   map[string]any // of the declared parameters, by name
	status   int
	location string
	// finish is called once the response was written, or could not be (written is false), but
	// not if the handler returned an error. nil: nothing is called.
	finish func(written bool)
	// free gives back the slot and the body of the request, before its answer is written. nil: nothing is called.
	free func()
	// key and fingerprint are of a request with an idempotency key.
	key, fingerprint string
	keyed            *idempotency.Keyed // set if the request has an idempotency key and its handler calls idempotent
}

// newRequest checks the parameters of a request, and its idempotency key if the route takes one.
// Unknown and repeated parameters of the query give fault.ErrInvalid.
func (rt route) newRequest(r *http.Request) (*request, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("query: %w: %w", fault.ErrInvalid, err)
	}
	q := &request{Request: r, values: map[string]any{}, status: rt.statuses[0]}
	for _, p := range rt.params {
		values := query[p.name] // its place if p.in is empty
		if p.in == "path" {
			values = []string{r.PathValue(p.name)}
		} else if p.in == "header" {
			values = r.Header.Values(p.name)
		}
		if q.values[p.name], err = p.read(values); err != nil {
			return nil, err
		}
	}
	if rt.isKeyed {
		if err := q.readKey(r); err != nil {
			return nil, err
		}
	}
	for name := range query {
		if !slices.ContainsFunc(rt.params, func(p param) bool { return p.name == name && p.in == "" }) {
			return nil, fmt.Errorf("%w: unknown parameter %.64q of %s%s", fault.ErrInvalid, name, rt.path, rt.listParameters())
		}
	}
	return q, nil
}

// text, number and flag return the value of a parameter, which the route must declare.
// octets returns the body of a request whose media type is types.OctetType, which must not be kept.
func (q *request) octets() (data []byte, ok bool) {
	in, inMemory := q.Body.(*bodyInMemory)
	if !inMemory || q.Header.Get("Content-Type") != types.OctetType {
		return nil, false
	}
	return in.data, true
}

func (q *request) text(name string) string { return q.values[name].(string) }
func (q *request) number(name string) int  { return q.values[name].(int) }
func (q *request) flag(name string) bool   { return q.values[name].(bool) }

// time returns the value of a parameter that is a time; zero if the request has none.
func (q *request) time(name string) time.Time { return q.values[name].(time.Time) }

// cut returns the page of all that a request asks for, which is empty if it begins past the end.
// Its parameters are in range, because the route declares their limits.
func cut[T any](q *request, all []T) types.Page[T] {
	from := min(q.number("offset"), len(all))
	return toPage(all[from:min(from+q.number("limit"), len(all))], len(all), itself)
}

// listParameters returns "; use a, b or c" for the parameters of a query, or "" if the route has
// none.
func (rt route) listParameters() string {
	var names []string
	for _, p := range rt.params {
		if p.in == "" {
			names = append(names, p.name)
		}
	}
	if names == nil {
		return ""
	}
	return "; use " + wording.Or(names...)
}

// toPage returns a page of converted items; total is the length of the whole list.
func toPage[S, T any](items []S, total int, convert func(S) T) types.Page[T] {
	page := types.Page[T]{Items: make([]T, len(items)), Total: total}
	for i, item := range items {
		page.Items[i] = convert(item)
	}
	return page
}

func itself[T any](v T) T { return v }

// decode reads exactly one JSON object into v. What its description forbids is an error, and so are bytes that are not
// UTF-8, because data and results are passed on as they came, to readers in any language.
func decode(body io.Reader, v any) error {
	if in, ok := body.(*bodyInMemory); ok && !utf8.Valid(in.data) {
		return fmt.Errorf("body: %w: it is not UTF-8", fault.ErrInvalid)
	}
	if err := strictjson.DecodeDescribed(body, v); err != nil {
		return fmt.Errorf("body: %w: %w", fault.ErrInvalid, err)
	}
	return nil
}

// seconds converts a duration of a body, which may be 0 to most. name is the name of the field.
func seconds(name string, s models.Seconds, most time.Duration) (time.Duration, error) {
	if !(s >= 0 && s <= models.SecondsOf(most)) { // false for NaN too
		return 0, fmt.Errorf("%s %v: %w: want 0 to %v seconds", name, s, fault.ErrInvalid, models.SecondsOf(most))
	}
	return s.Duration(), nil
}
