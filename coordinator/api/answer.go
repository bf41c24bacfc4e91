package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"leasehold/shared/apitypes"
	"leasehold/shared/fault"
)

// serve makes a handler of a route: bounded in time, in bytes, and in number.
func (s *server) serve(rt route) http.Handler {
	timeout, most := callTimeout, int64(MaxBody)
	if rt.bulk {
		timeout, most = bulkTimeout, MaxListing
	}
	h := func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Now().Add(timeout)) // a recorder has none
		_ = c.SetWriteDeadline(time.Now().Add(timeout))
		r.Body = http.MaxBytesReader(w, r.Body, most)
		leave, err := s.enter(ctx, rt.bulk)
		if err != nil {
			w.Header().Set("Retry-After", "1")
			s.fail(w, r, err)
			return
		}
		defer leave()
		answer, err := rt.answer(ctx, r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.write(w, r, answer)
	}
	return s.metrics.count(rt.method+" "+rt.path, http.HandlerFunc(h))
}

// enter counts a request among those under way. One that may bring many bytes
// waits for its turn before any of them is read.
func (s *server) enter(ctx context.Context, bulk bool) (leave func(), err error) {
	select {
	case s.inFlight <- struct{}{}:
	default:
		return nil, fmt.Errorf("%w: %d requests are under way", fault.ErrOverloaded, cap(s.inFlight))
	}
	if !bulk {
		return func() { <-s.inFlight }, nil
	}
	select {
	case s.listings <- struct{}{}:
		return func() { <-s.listings; <-s.inFlight }, nil
	case <-ctx.Done():
		<-s.inFlight
		return nil, ctx.Err()
	}
}

// write sends an answer. One that must be settled is, when it is on its way to a
// client that is still there.
func (s *server) write(w http.ResponseWriter, r *http.Request, answer any) {
	out, ok := answer.(reply)
	if !ok {
		out = reply{body: answer}
	}
	arrived := false
	if out.settle != nil {
		defer func() { out.settle(arrived) }()
	}
	if out.raw == nil && out.body != nil {
		data, err := encode(out.body)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		out.raw, out.media = data, "application/json"
	}
	if r.Context().Err() != nil {
		return // nobody is there
	}
	err := out.send(w)
	if err == nil && out.settle != nil {
		err = http.NewResponseController(w).Flush()
	}
	arrived = err == nil && r.Context().Err() == nil
}

// send writes an answer whose body is encoded.
func (out reply) send(w http.ResponseWriter) error {
	switch {
	case out.status != 0:
	case out.raw == nil:
		out.status = http.StatusNoContent
	default:
		out.status = http.StatusOK
	}
	if out.location != "" {
		w.Header().Set("Location", out.location)
	}
	if out.raw != nil {
		w.Header().Set("Content-Type", out.media)
	}
	w.WriteHeader(out.status)
	_, err := w.Write(out.raw)
	return err
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// fail sends an error. What is no fault of the client is logged and not told.
func (s *server) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%w: it took too long; repeat it", fault.ErrUnavailable)
	case errors.Is(err, context.Canceled):
		err = fmt.Errorf("%w: the request was given up", fault.ErrUnavailable)
	}
	row := fault.Of(err)
	detail := err.Error()
	if row.Kind == nil {
		s.Log.Error("api: a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
		detail = "see the coordinator's log"
	}
	writeProblem(w, row, detail)
}

func writeProblem(w http.ResponseWriter, row fault.Row, detail string) {
	title := "internal error"
	if row.Kind != nil {
		title = row.Kind.Error()
	}
	data, err := encode(apitypes.Problem{
		Type: "urn:leasehold:problem:" + row.Code, Title: title, Status: row.HTTPStatus, Code: apitypes.ErrorCode(row.Code), Detail: detail,
	})
	if err != nil {
		data = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(row.HTTPStatus)
	_, _ = w.Write(data)
}

func notFound(w http.ResponseWriter, r *http.Request) {
	writeProblem(w, fault.Of(fault.ErrNotFound), fmt.Sprintf("there is no %s; see /api/v1/openapi.yaml", r.URL.Path))
}

// refuseMethod answers what no route of a path does. It is a usage error with
// the status that HTTP has for it.
func refuseMethod(allowed []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, m := range allowed {
			w.Header().Add("Allow", m)
		}
		row := fault.Of(fault.ErrUsage)
		row.HTTPStatus = http.StatusMethodNotAllowed
		writeProblem(w, row, fmt.Sprintf("%s is not among the methods of this path: %v", r.Method, allowed))
	})
}
