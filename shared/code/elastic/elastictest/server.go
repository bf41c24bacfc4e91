package elastictest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Server is a search server. It is an http.Handler, and an http.RoundTripper that calls
// itself without a network.
type Server struct {
	User, Password string // those of clients; empty: every client
	OpenSearch     bool
	Serverless     bool   // refuses settings that it decides itself, and does not tell them
	Number         string // of the version; empty: a default
	Cluster        string // the id of the cluster; empty: a default
	MaxBody        int    // bytes, http.max_content_length; 0: the default

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

// An Answer is the answer of a failing server.
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

// Delete removes an index and its places in aliases, as an operator does. An alias without an
// index is gone too.
func (s *Server) Delete(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(name)
}

func (s *Server) remove(name string) {
	delete(s.indices, name)
	for a := range s.aliases {
		s.removeAlias(a, name)
	}
}

// Indices returns the names of all indices.
func (s *Server) Indices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.indices))
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.respond(r)
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: answer.Status, Header: answer.Header, Request: r, ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(strings.NewReader(answer.Body)), ContentLength: int64(len(answer.Body)),
	}, nil
}

// ServeHTTP implements http.Handler. If respond fails, the client sees an incomplete answer.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := s.respond(r)
	if err != nil {
		w.Header().Set("Content-Length", "1")
		return
	}
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.Status)
	_, _ = io.WriteString(w, answer.Body) // the client may be gone
}

// respond returns the answer to a request, or the error of a connection that breaks. Fail may
// inject an answer in place of the request, or after it was executed (AfterWrite); one with
// status 0 breaks the connection.
func (s *Server) respond(r *http.Request) (*Answer, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	var injected *Answer // nil: the test injects none
	if s.Fail != nil {
		injected = s.Fail(r, string(body))
	}
	if injected == nil || injected.AfterWrite {
		status, document := s.answer(r, body)
		if injected == nil {
			return asAnswer(status, nil, document)
		}
	}
	switch {
	case injected.Status == 0:
		return nil, io.ErrUnexpectedEOF
	case injected.Body == "":
		return asAnswer(injected.Status, injected.Header, (&refusal{injected.Status, "injected_exception", "a test"}).body())
	}
	return injected, nil
}

// asAnswer returns the answer with a document.
func asAnswer(status int, header http.Header, document any) (*Answer, error) {
	var data []byte
	var err error
	if document != nil {
		data, err = json.Marshal(document)
	}
	all := http.Header{"Content-Type": {"application/json"}}
	maps.Copy(all, header)
	return &Answer{Status: status, Header: all, Body: string(data)}, err
}

// A refusal is an error that the server sends. The operations return nil if they refuse nothing.
type refusal struct {
	status       int
	kind, reason string
}

// refuse returns an error with the HTTP status and the type that a real server sends.
func refuse(status int, kind, format string, args ...any) *refusal {
	return &refusal{status, kind, fmt.Sprintf(format, args...)}
}

func (e *refusal) Error() string { return e.kind + ": " + e.reason }

// body returns the answer to a refused request, in the two forms that real servers have.
func (e *refusal) body() any {
	if e.kind == "" {
		return map[string]any{"error": e.reason, "status": e.status}
	}
	cause := map[string]any{"type": e.kind, "reason": e.reason}
	return map[string]any{"error": map[string]any{"root_cause": []any{cause}, "type": e.kind, "reason": e.reason}, "status": e.status}
}

func notFound(name string) *refusal {
	return refuse(http.StatusNotFound, "index_not_found_exception", "no such index [%s]", name)
}

// answer executes a request, one at a time. A wrong user or password is refused with 401 before
// anything else.
func (s *Server) answer(r *http.Request, body []byte) (status int, answer any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	if user, password, _ := r.BasicAuth(); s.User != "" && (user != s.User || password != s.Password) {
		e := refuse(http.StatusUnauthorized, "security_exception", "unable to authenticate user [%s]", user)
		return e.status, e.body()
	}
	if len(body) > cmp.Or(s.MaxBody, maxBody) { // without a body, and without a word
		return http.StatusRequestEntityTooLarge, nil
	}
	answer, err := s.route(r, body)
	if err != nil {
		return err.status, err.body()
	}
	return http.StatusOK, answer
}

// route finds the operation of a request and runs it. It refuses unknown paths, unknown
// parameters and a wrong content type, as a real server does, so that tests find such requests.
func (s *Server) route(r *http.Request, body []byte) (any, *refusal) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	operation := r.Method + " " + parts[len(parts)-1]
	if len(parts) == 1 && !strings.HasPrefix(parts[0], "_") {
		operation = r.Method
	}
	if len(parts) == 2 && parts[0] == "_alias" {
		operation = r.Method + " _alias"
	}
	if len(parts) == 3 && parts[1] == "_block" {
		parts = []string{parts[0], "_block/" + parts[2]}
		operation = r.Method + " " + parts[1]
	}
	known, ok := operations[operation]
	// The other operations have their own name in the path, behind the name of the index if they
	// have one.
	onlyName := operation == "GET" || operation == "PUT" || operation == "DELETE" || operation == "GET _alias"
	if !ok || len(parts) > 2 || !onlyName && known.named != (len(parts) == 2) {
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

// parameter returns the first value of a parameter of the URL; "" if it is missing.
func (r request) parameter(name string) string {
	if len(r.query[name]) == 0 {
		return ""
	}
	return r.query[name][0]
}

// decode reads the body, whose keys must be known; else it is refused.
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
	"GET":              {false, []string{"filter_path=*.aliases,*.settings.index.uuid,*.mappings._meta"}, "", (*Server).get},
	"PUT":              {false, nil, ofJSON, (*Server).create},
	"DELETE":           {false, nil, "", (*Server).delete},
	"GET _alias":       {false, nil, "", (*Server).getAlias},
	"POST _aliases":    {false, nil, ofJSON, (*Server).changeAliases},
	"POST _bulk":       {false, []string{"require_alias=true"}, ofLines, (*Server).bulk},
	"POST _mget":       {true, []string{"_source=false", "_source_includes"}, ofJSON, (*Server).readMany},
	"POST _search":     {true, []string{"allow_partial_search_results=false"}, ofJSON, (*Server).search},
	"POST _count":      {true, nil, ofJSON, (*Server).count},
	"POST _refresh":    {true, nil, "", (*Server).refresh},
	"PUT _mapping":     {true, nil, ofJSON, (*Server).changeMapping},
	"PUT _settings":    {true, nil, ofJSON, (*Server).changeSettings},
	"PUT _block/write": {true, nil, "", (*Server).refuseWrites},
}
