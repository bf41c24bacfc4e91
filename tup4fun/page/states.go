package page

import (
	"context"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
)

// expandedDrawn is how many times the states of the first levels may be drawn when the visitor expands
// more.
const expandedDrawn = 4

// statesView is a part of the state graph. States have the numbers of the drawn nodes.
type statesView struct {
	SVG  string        `json:"svg"`
	Ways []explore.Way `json:"ways"`
	Open []int         `json:"open"` // states whose steps are not drawn
	Run  []int         `json:"run"`  // the states of the chosen run
	At   int           `json:"at"`   // index in Run: the state after the steps that are taken
}

// states draws the first levels of the state graph, and the states of the chosen run and of the runs
// in session.Expanded. It never fails.
func (p *Page) states(ctx context.Context, m *explore.Model, s session) (any, error) {
	g, runs := explore.BuildPart(ctx, m, explore.Part{Most: p.limits.Drawn, Runs: append(s.Expanded, s.run()), Total: expandedDrawn * p.limits.Drawn})
	v := statesView{SVG: draw.States(g, "").SVG(), Ways: g.Ways(), Open: []int{}, Run: runs[len(runs)-1]}
	v.At = min(len(s.Choices), len(v.Run)-1)
	for i := range g.Len() {
		if !g.Expanded(i) {
			v.Open = append(v.Open, i)
		}
	}
	return v, nil
}
