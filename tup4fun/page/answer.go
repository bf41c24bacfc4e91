package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"leasehold/tup4fun/syntax"
)

// answerFunc computes the answer to a request from its body. Its errors are for the client.
type answerFunc func(ctx context.Context, body io.Reader) (any, error)

// handler returns the handler of requests with a body of one type and of at most size bytes. A
// request takes a place in the queue and keeps it until its answer is written; without a free place
// it is refused with 503.
func (p *Page) handler(kind string, size int64, answer answerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case p.queue <- struct{}{}:
			defer func() { <-p.queue }()
		default:
			http.Error(w, "Too many requests are waiting; try again in a moment.", http.StatusServiceUnavailable)
			return
		}
		if r.Header.Get("Content-Type") != kind {
			http.Error(w, "The request is invalid: want the content type "+kind, http.StatusBadRequest)
			return
		}
		reply, err := answer(r.Context(), http.MaxBytesReader(w, r.Body, size))
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			http.Error(w, fmt.Sprintf("The text is too large: at most %d bytes are read.", large.Limit), http.StatusRequestEntityTooLarge)
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(reply) // an error means that the client is gone
		}
	})
}

// decode reads the JSON of a request into v. It fails if there are unknown fields.
func decode(body io.Reader, v any) error {
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("the request is invalid: %w", err)
	}
	return nil
}

// limited waits for one of the slots, as many as requests may be computed at once, and computes an
// answer within the limit of time.
func (p *Page) limited(ctx context.Context, compute func(context.Context) (any, error)) (any, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, stop := context.WithTimeout(ctx, p.limits.Time)
	defer stop()
	return compute(ctx)
}

// mistakes is the answer for a text with errors. The page shows them beside the lines.
type mistakes struct {
	Errors []boxError `json:"errors"`
}

// boxError is an error or a warning with its position in a box.
type boxError struct {
	Box  string `json:"box"`  // "init", "program" or "net"
	Line int    `json:"line"` // 0: it has no position
	Col  int    `json:"column"`
	Text string `json:"text"`
}

// boxErrors converts errors in a program.
func boxErrors(all []*syntax.Error) []boxError {
	found := make([]boxError, len(all))
	for i, e := range all {
		found[i] = boxError{boxOf(e.Pos), e.Pos.Line, e.Pos.Col, e.Msg}
	}
	return found
}

// boxOf returns the box of a position.
func boxOf(at syntax.Pos) string {
	if at.Init {
		return "init"
	}
	return "program"
}
