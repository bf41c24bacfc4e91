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

// session is what a request brings: the two boxes, and what was chosen so far.
type session struct {
	Init    string `json:"init"`
	Program string `json:"program"`
	Choices []int  `json:"choices"`
}

// An answerer says something about a program.
type answerer func(context.Context, *explore.Model, session) (any, error)

// broken is the answer to a program that cannot be read.
type broken struct {
	Errors []mistake `json:"errors"`
}

// A mistake is an error or a warning, and where it is.
type mistake struct {
	Box  string `json:"box"` // "init" or "program"
	Line int    `json:"line"`
	Col  int    `json:"column"`
	Text string `json:"text"`
}

// answer makes a handler, which refuses what comes when too many are there.
func (p *Page) answer(of answerer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case p.queue <- struct{}{}:
			defer func() { <-p.queue }()
		default:
			http.Error(w, "Too many programs are being looked at; try again in a moment.", http.StatusServiceUnavailable)
			return
		}
		var s session
		if err := decode(w, r, &s); err != nil {
			refuse(w, err)
			return
		}
		reply, err := p.work(r.Context(), s, of)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reply) // whoever is gone needs it no more
	})
}

// refuse answers a request that could not be read.
func refuse(w http.ResponseWriter, err error) {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		http.Error(w, fmt.Sprintf("The program is too large: at most %d bytes are read.", MaxRequest), http.StatusRequestEntityTooLarge)
		return
	}
	http.Error(w, "The request is not as the page makes it: "+err.Error(), http.StatusBadRequest)
}

// work waits for room, and bounds the time.
func (p *Page) work(ctx context.Context, s session, of answerer) (any, error) {
	select {
	case p.room <- struct{}{}:
		defer func() { <-p.room }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, stop := context.WithTimeout(ctx, p.limits.Time)
	defer stop()
	return p.about(ctx, s, of)
}

func decode(w http.ResponseWriter, r *http.Request, s *session) error {
	if r.Header.Get("Content-Type") != "application/json" {
		return errors.New("its type is not application/json")
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxRequest))
	d.DisallowUnknownFields()
	return d.Decode(s)
}

func (p *Page) about(ctx context.Context, s session, of answerer) (any, error) {
	if len(s.Choices) > p.limits.Choices {
		return nil, fmt.Errorf("%d steps were chosen; at most %d are taken", len(s.Choices), p.limits.Choices)
	}
	if strings.TrimSpace(s.Init) != "" && syntax.HasStart(s.Program) {
		return broken{[]mistake{{"init", 1, 1, "the program has a start of its own: empty this box"}}}, nil
	}
	program, err := syntax.ParseBoxes("program", s.Init, s.Program)
	var wrong syntax.Errors
	switch {
	case errors.As(err, &wrong):
		return broken{s.mistakes(wrong)}, nil
	case err != nil:
		return nil, err
	}
	m, err := explore.Compile(program, 0)
	if err != nil {
		return broken{[]mistake{{Box: "program", Text: err.Error()}}}, nil
	}
	return of(ctx, m, s)
}

// mistakes says of each error in which box it is.
func (s session) mistakes(all []*syntax.Error) []mistake {
	found := make([]mistake, len(all))
	for i, e := range all {
		box, line := s.place(e.Pos.Line)
		found[i] = mistake{box, line, e.Pos.Col, e.Msg}
	}
	return found
}

// place says where a line of both boxes together (syntax.Join) is.
func (s session) place(line int) (box string, at int) {
	if strings.TrimSpace(s.Init) == "" {
		return "program", line
	}
	lines := strings.Count(strings.TrimRight(s.Init, "\n"), "\n") + 1
	if line <= lines+1 { // the --- between them ends the first
		return "init", min(line, lines)
	}
	return "program", line - lines - 1
}
