package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"leasehold/coordinator/api"
	"leasehold/shared/api/types"
)

// maxAnswer bounds an answer of the API that a page reads, in bytes.
const maxAnswer = 16 << 20

// A source answers the requests of one visitor from the coordinator's API, within the process. Each request is
// checked, counted and audited as if the visitor had sent it, so a page never shows or does more than the API allows.
type source struct {
	api     http.Handler
	visitor *http.Request
}

// problem is an error answer of the API.
type problem struct{ types.Problem }

func (p *problem) Error() string {
	if p.Detail == "" {
		return p.Title
	}
	return p.Detail
}

// isStatus reports whether err is an error answer of the API with this status.
func isStatus(err error, status int) bool {
	var p *problem
	return errors.As(err, &p) && p.Status == status
}

// path joins the parts of a path below /api/v1, each escaped.
func path(parts ...string) string {
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return "/api/v1/" + strings.Join(parts, "/")
}

// get reads the answer to a GET. The query may be nil.
func (s source) get(ctx context.Context, path string, query url.Values, answer any) error {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return s.do(ctx, http.MethodGet, path, nil, answer)
}

// getOptional is get for something that this coordinator, or this visitor, may not have; it reports whether there is.
func (s source) getOptional(ctx context.Context, path string, query url.Values, answer any) (bool, error) {
	err := s.get(ctx, path, query, answer)
	if isStatus(err, http.StatusNotFound) || isStatus(err, http.StatusForbidden) || isStatus(err, http.StatusServiceUnavailable) {
		return false, nil
	}
	return err == nil, err
}

// do sends a request with an optional body, and reads the answer unless that is nil.
func (s source) do(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader = http.NoBody
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(api.Inner(ctx), method, path, sent)
	if err != nil {
		return err
	}
	r.Host, r.RemoteAddr, r.TLS, r.RequestURI = s.visitor.Host, s.visitor.RemoteAddr, s.visitor.TLS, path
	r.Header = s.visitor.Header.Clone() // it proves who the visitor is
	for _, name := range []string{"Accept", "Accept-Encoding", "Content-Length", "Content-Type", "Connection"} {
		r.Header.Del(name)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	var w recorder
	s.api.ServeHTTP(&w, r)
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.decode(path, answer)
}

// recorder keeps an answer of the API.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *recorder) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.body.Len()+len(data) > maxAnswer {
		return 0, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	return w.body.Write(data)
}

// decode reads the answer; an error answer is a *problem.
func (w *recorder) decode(path string, answer any) error {
	if w.status >= 400 {
		p := &problem{types.Problem{Title: http.StatusText(w.status), Status: w.status}}
		if err := json.Unmarshal(w.body.Bytes(), &p.Problem); err != nil || p.Status == 0 {
			p.Status = w.status
		}
		return p
	}
	if answer == nil || w.body.Len() == 0 {
		return nil
	}
	if err := json.Unmarshal(w.body.Bytes(), answer); err != nil {
		return fmt.Errorf("answer of %s: %w", path, err)
	}
	return nil
}
