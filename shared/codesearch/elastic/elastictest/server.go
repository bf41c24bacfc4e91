package elastictest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Server is a search server. It is an http.Handler, and an http.RoundTripper that calls
// itself without a network.
type Server struct {
	User, Password string // those of clients; empty: every client
	OpenSearch     bool

	// Fail answers a request instead of the server, if it returns an answer. It may change
	// nothing. It may be called concurrently.
	Fail func(r *http.Request, body string) *Answer
	// FailItem refuses a write of a _bulk request, if it returns a status.
	FailItem func(action, index, id string) (status int, errorType string)

	mu       sync.Mutex // guards all below
	indices  map[string]*index
	aliases  map[string]map[string]alias // by name and index
	created  int
	requests []string // methods and paths
}

// An Answer is that of a server that fails.
type Answer struct {
	Status     int // 0: the connection breaks
	Header     http.Header
	Body       string // empty: an error in the shape of a server
	AfterWrite bool   // the request is executed before; its answer is lost
}

// New returns an empty server.
func New() *Server {
	return &Server{indices: map[string]*index{}, aliases: map[string]map[string]alias{}}
}

// Requests returns the requests since the last call, as METHOD PATH.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.requests
	s.requests = nil
	return all
}

// Documents returns the documents of an index or alias as they were written, by id; those that
// an alias does not show are left out. It sees what was refreshed only.
func (s *Server) Documents(name string) map[string]map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string]map[string]any{}
	i, filter, err := s.find(name)
	if err != nil {
		return found
	}
	for _, d := range i.visible {
		if filter == nil || filter(d) {
			found[d.id] = d.source
		}
	}
	return found
}

// Delete removes an index, as an operator does.
func (s *Server) Delete(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.indices, name)
	for a := range s.aliases {
		if delete(s.aliases[a], name); len(s.aliases[a]) == 0 {
			delete(s.aliases, a)
		}
	}
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			answer, err = nil, io.ErrUnexpectedEOF
			if r.Context().Err() != nil {
				err = r.Context().Err()
			}
		}
	}()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	var failed *Answer
	if s.Fail != nil {
		failed = s.Fail(r, string(body))
	}
	if failed != nil && !failed.AfterWrite {
		failed.send(w)
		return
	}
	status, answer := s.answer(r, body)
	if failed != nil {
		failed.send(w)
		return
	}
	send(w, status, answer)
}

func send(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

func (a *Answer) send(w http.ResponseWriter) {
	if a.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	if a.Body == "" {
		send(w, a.Status, (&refusal{a.Status, "injected_exception", "a test"}).body())
		return
	}
	w.WriteHeader(a.Status)
	_, _ = io.WriteString(w, a.Body) // the client may be gone
}

// refusal is an error of the server.
type refusal struct {
	status       int
	kind, reason string
}

func refuse(status int, kind, format string, args ...any) *refusal {
	return &refusal{status, kind, fmt.Sprintf(format, args...)}
}

func (e *refusal) Error() string { return e.kind + ": " + e.reason }

func (e *refusal) body() any {
	cause := map[string]any{"type": e.kind, "reason": e.reason}
	return map[string]any{"error": map[string]any{"root_cause": []any{cause}, "type": e.kind, "reason": e.reason}, "status": e.status}
}

func notFound(name string) *refusal {
	return refuse(http.StatusNotFound, "index_not_found_exception", "no such index [%s]", name)
}

// answer executes a request.
func (s *Server) answer(r *http.Request, body []byte) (status int, answer any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	if user, password, _ := r.BasicAuth(); s.User != "" && (user != s.User || password != s.Password) {
		e := refuse(http.StatusUnauthorized, "security_exception", "unable to authenticate user [%s]", user)
		return e.status, e.body()
	}
	answer, err := s.route(r, body)
	if err != nil {
		return err.status, err.body()
	}
	return http.StatusOK, answer
}

// route finds the operation of a request.
func (s *Server) route(r *http.Request, body []byte) (any, *refusal) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	operation := r.Method + " " + parts[len(parts)-1]
	if len(parts) == 1 && !strings.HasPrefix(parts[0], "_") {
		operation = r.Method
	}
	if len(parts) == 2 && parts[0] == "_alias" {
		operation = r.Method + " _alias"
	}
	known, ok := operations[operation]
	if !ok || len(parts) > 2 || known.named != (len(parts) == 2) && operation != "GET" && operation != "PUT" && operation != "GET _alias" {
		return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "no handler found for uri [%s] and method [%s]", r.URL.Path, r.Method)
	}
	query := r.URL.Query()
	for name, values := range query {
		if i := slices.Index(known.parameters, name+"="+values[0]); i < 0 && !slices.Contains(known.parameters, name) {
			return nil, refuse(http.StatusBadRequest, "illegal_argument_exception", "request [%s] contains unrecognized parameter: [%s=%s]", r.URL.Path, name, values[0])
		}
	}
	want := ""
	if len(body) > 0 {
		want = known.content
	}
	if got := r.Header.Get("Content-Type"); got != want {
		return nil, refuse(http.StatusNotAcceptable, "content_type_header_exception", "Content-Type header [%s] is not supported", got)
	}
	name := parts[0]
	if operation == "GET _alias" {
		name = parts[1]
	}
	return known.do(s, request{name: name, query: query, body: body})
}

// request is one request for an index, alias, or all.
type request struct {
	name  string
	query map[string][]string
	body  []byte
}

func (r request) parameter(name string) string {
	if len(r.query[name]) == 0 {
		return ""
	}
	return r.query[name][0]
}

// decode reads the body, whose keys must be known.
func (r request) decode(to any) *refusal {
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		return refuse(http.StatusBadRequest, "parsing_exception", "%v", err)
	}
	return nil
}

// operation is a route.
type operation struct {
	named      bool     // the path begins with an index or alias
	parameters []string // NAME, or NAME=VALUE
	content    string   // type of the body
	do         func(*Server, request) (any, *refusal)
}

const (
	ofJSON  = "application/json"
	ofLines = "application/x-ndjson"
)

var operations = map[string]operation{
	"GET":                   {false, nil, "", (*Server).get},
	"PUT":                   {false, nil, ofJSON, (*Server).create},
	"GET _alias":            {false, nil, "", (*Server).getAlias},
	"POST _aliases":         {false, nil, ofJSON, (*Server).changeAliases},
	"POST _bulk":            {false, []string{"require_alias=true"}, ofLines, (*Server).bulk},
	"POST _mget":            {true, []string{"_source=false", "_source_includes"}, ofJSON, (*Server).readMany},
	"POST _search":          {true, []string{"allow_partial_search_results=false"}, ofJSON, (*Server).search},
	"POST _count":           {true, nil, ofJSON, (*Server).count},
	"POST _refresh":         {true, nil, "", (*Server).refresh},
	"POST _delete_by_query": {true, []string{"conflicts=proceed", "refresh=true"}, ofJSON, (*Server).deleteByQuery},
}
