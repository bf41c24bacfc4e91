package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// session is one request: the two boxes, and the run so far.
type session struct {
	Init     string  `json:"init"`
	Program  string  `json:"program"`
	Choices  []int   `json:"choices"`  // the steps that are taken
	Ahead    []int   `json:"ahead"`    // the steps behind them, which the visitor took back
	Expanded [][]int `json:"expanded"` // runs to states of the state graph that the visitor expanded
}

// boxes returns the two boxes, with the names that the page gives them.
func (s session) boxes() syntax.Boxes {
	return syntax.Boxes{InitFile: "initialisation", Init: s.Init, File: "program", Program: s.Program}
}

// run returns all chosen steps.
func (s session) run() []int { return slices.Concat(s.Choices, s.Ahead) }

// viewFunc computes one view of a program.
type viewFunc func(context.Context, *explore.Model, session) (any, error)

// ofProgram returns the answer that shows a view of a program. Errors in the boxes are not an error
// but the answer mistakes.
func (p *Page) ofProgram(view viewFunc) answerFunc {
	return p.ofSession(func(ctx context.Context, s session) (any, error) {
		m, wrong, err := s.compile()
		if err != nil || len(wrong.Errors) > 0 {
			return wrong, err
		}
		return view(ctx, m, s)
	})
}

// ofSession returns the answer that is computed from a session. Too many steps are an error.
func (p *Page) ofSession(compute func(context.Context, session) (any, error)) answerFunc {
	return func(ctx context.Context, body io.Reader) (any, error) {
		var s session
		if err := decode(body, &s); err != nil {
			return nil, err
		}
		for _, run := range append(slices.Clone(s.Expanded), s.run()) {
			if len(run) > p.limits.Choices {
				return nil, fmt.Errorf("%d steps are chosen; at most %d are allowed", len(run), p.limits.Choices)
			}
		}
		if len(s.Expanded) > p.limits.Drawn {
			return nil, fmt.Errorf("%d states are expanded; at most %d are allowed", len(s.Expanded), p.limits.Drawn)
		}
		return p.limited(ctx, func(ctx context.Context) (any, error) { return compute(ctx, s) })
	}
}

// compile compiles the program of the boxes, or returns the errors in them.
func (s session) compile() (*explore.Model, mistakes, error) {
	if strings.TrimSpace(s.Init) != "" && syntax.HasStart(s.Program) {
		return nil, mistakes{[]boxError{{"init", 1, 1, "the program has its own declarations: empty this box"}}}, nil
	}
	program, err := s.boxes().Parse()
	var wrong syntax.Errors
	switch {
	case errors.As(err, &wrong):
		return nil, mistakes{boxErrors(wrong)}, nil
	case err != nil:
		return nil, mistakes{}, err
	}
	m, err := explore.Compile(program, 0)
	if err != nil {
		return nil, mistakes{[]boxError{{Box: "program", Text: err.Error()}}}, nil
	}
	return m, mistakes{}, nil
}
