package page

import (
	"context"
	"errors"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// graphView is a program graph.
type graphView struct {
	Warnings []boxError `json:"warnings"`
	SVG      string     `json:"svg"` // empty if the graph is too large
}

// graph returns the drawing of the program graph, and the warnings about the program. It never
// fails.
func (p *Page) graph(_ context.Context, m *explore.Model, _ session) (any, error) {
	v := graphView{Warnings: boxErrors(syntax.Warn(m.Program))}
	if g := draw.Program(m); len(g.Nodes) <= draw.MaxNodes {
		v.SVG = g.SVG()
	}
	return v, nil
}

// formatView is a program in the canonical form.
type formatView struct {
	Init    string `json:"init"`
	Program string `json:"program"`
}

// format formats the boxes. Mistakes in them are the result mistakes.
func (p *Page) format(_ context.Context, s session) (any, error) {
	b, err := s.boxes().Format()
	var wrong syntax.Errors
	if errors.As(err, &wrong) {
		return mistakes{boxErrors(wrong)}, nil
	}
	return formatView{b.Init, b.Program}, err
}
