package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// session is one request: the two boxes, and the choices so far.
type session struct {
	Init    string `json:"init"`
	Program string `json:"program"`
	Choices []int  `json:"choices"`
}

// viewFunc computes one view of a program.
type viewFunc func(context.Context, *explore.Model, session) (any, error)

// parseErrors is the answer for a program with errors.
type parseErrors struct {
	Errors []boxError `json:"errors"`
}

// boxError is an error or a warning with its position in a box.
type boxError struct {
	Box  string `json:"box"` // "init" or "program"
	Line int    `json:"line"`
	Col  int    `json:"column"`
	Text string `json:"text"`
}

// handler returns the handler of a view. A request takes a place in the queue and keeps it until
// its answer is written; without a free place it is refused with 503. What the view or the
// program refuses is 400.
func (p *Page) handler(view viewFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case p.queue <- struct{}{}:
			defer func() { <-p.queue }()
		default:
			http.Error(w, "Too many requests are waiting; try again in a moment.", http.StatusServiceUnavailable)
			return
		}
		var s session
		if err := decode(w, r, &s); err != nil {
			writeRequestError(w, err)
			return
		}
		reply, err := p.runLimited(r.Context(), s, view)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reply) // an error means that the client is gone
	})
}

// writeRequestError answers a request that could not be read.
func writeRequestError(w http.ResponseWriter, err error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		http.Error(w, fmt.Sprintf("The program is too large: at most %d bytes are read.", MaxRequest), http.StatusRequestEntityTooLarge)
		return
	}
	http.Error(w, "The request is invalid: "+err.Error(), http.StatusBadRequest)
}

// runLimited waits for one of the slots, as many as programs may be explored at once, and computes
// the view within the limit of time.
func (p *Page) runLimited(ctx context.Context, s session, view viewFunc) (any, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, stop := context.WithTimeout(ctx, p.limits.Time)
	defer stop()
	return p.compileAndView(ctx, s, view)
}

// decode reads the request into s. It fails if the type of the content is not JSON, if there are
// unknown fields, and beyond MaxRequest bytes.
func decode(w http.ResponseWriter, r *http.Request, s *session) error {
	if r.Header.Get("Content-Type") != "application/json" {
		return errors.New("want the content type application/json")
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxRequest))
	d.DisallowUnknownFields()
	return d.Decode(s)
}

// compileAndView compiles the program of the boxes and returns its view. Mistakes in the boxes are
// not an error but a result, parseErrors, which the page shows beside the lines. It fails for too
// many choices.
func (p *Page) compileAndView(ctx context.Context, s session, view viewFunc) (any, error) {
	if len(s.Choices) > p.limits.Choices {
		return nil, fmt.Errorf("%d steps are chosen; at most %d are allowed", len(s.Choices), p.limits.Choices)
	}
	if strings.TrimSpace(s.Init) != "" && syntax.HasStart(s.Program) {
		return parseErrors{[]boxError{{"init", 1, 1, "the program has its own declarations: empty this box"}}}, nil
	}
	program, err := syntax.ParseBoxes("program", s.Init, s.Program)
	var wrong syntax.Errors
	switch {
	case errors.As(err, &wrong):
		return parseErrors{s.boxErrors(wrong)}, nil
	case err != nil:
		return nil, err
	}
	m, err := explore.Compile(program, 0)
	if err != nil {
		return parseErrors{[]boxError{{Box: "program", Text: err.Error()}}}, nil
	}
	return view(ctx, m, s)
}

// boxErrors converts errors to positions in their boxes.
func (s session) boxErrors(all []*syntax.Error) []boxError {
	found := make([]boxError, len(all))
	for i, e := range all {
		box, line := s.boxLine(e.Pos.Line)
		found[i] = boxError{box, line, e.Pos.Col, e.Msg}
	}
	return found
}

// boxLine converts a line of the joined file (syntax.Join) to its box and the line in it. The
// separator between them, where an error may be, belongs to the end of the first box.
func (s session) boxLine(line int) (box string, at int) {
	if strings.TrimSpace(s.Init) == "" {
		return "program", line
	}
	lines := strings.Count(strings.TrimRight(s.Init, "\n"), "\n") + 1
	if line <= lines+1 {
		return "init", min(line, lines)
	}
	return "program", line - lines - 1
}
