package page

import (
	"context"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
)

// maxFinals bounds the stuck and the terminated states that are listed.
const maxFinals = 20

// checkView is a report with a drawing of each violating run. All its counts are of one search: with
// Whole, all states without reductions, as they are drawn; otherwise with reductions.
type checkView struct {
	*explore.Report
	Whole     bool        `json:"whole"`
	Runs      []runDrawn  `json:"runs"`   // by verdict
	Finals    []finalView `json:"finals"` // the first stuck and terminated states, if Whole
	Unreached []boxError  `json:"unreached"`
}

// runDrawn is a run that violates a property; it has no steps if there is none.
type runDrawn struct {
	Sequence string `json:"sequence"`
	Choices  []int  `json:"choices"` // nil: there is no run
	Shortest bool   `json:"shortest"`
}

// finalView is a state without steps.
type finalView struct {
	State   string `json:"state"` // stuck or terminated
	Text    string `json:"text"`
	Choices []int  `json:"choices"` // a shortest run to it
}

// check explores the program within the limits; what they leave unknown is in the report, so it
// never fails. If all states can be kept without reductions, which change no verdict, the search is
// without them. The page gets drawings in place of the traces.
func (p *Page) check(ctx context.Context, m *explore.Model, _ session) (any, error) {
	o := p.limits.options()
	v := checkView{Finals: []finalView{}}
	small := o
	small.Time = p.limits.Time / 4 // most of the time is for the verdicts
	g, reason := explore.Build(ctx, m, small.Unreduced())
	if reason == "" {
		v.Whole, v.Finals = true, finals(g)
		o = o.Unreduced()
	}
	v.Report = explore.Check(ctx, m, o)
	for _, u := range v.Report.Unreached {
		v.Unreached = append(v.Unreached, boxError{boxOf(u.Pos), u.Pos.Line, u.Pos.Col, u.Process + ": " + u.Text})
	}
	for i := range v.Verdicts {
		drawn := runDrawn{}
		if t := v.Verdicts[i].Trace; t != nil {
			drawn = runDrawn{draw.SequenceSVG(t), t.Choices, t.Shortest}
			v.Verdicts[i].Trace = nil
		}
		v.Runs = append(v.Runs, drawn)
	}
	return v, nil
}

// finals lists the first stuck states of a complete graph, and the first terminated ones.
func finals(g *explore.Graph) []finalView {
	ways := g.Ways()
	listed := map[string][]finalView{}
	for i := range g.Len() {
		if hasSteps(g, i) {
			continue
		}
		state := "stuck"
		if g.Terminated(i) {
			state = "terminated"
		}
		if len(listed[state]) < maxFinals {
			listed[state] = append(listed[state], finalView{state, draw.Config(g.Config(i)), explore.RunTo(ways, i)})
		}
	}
	return append(append([]finalView{}, listed["stuck"]...), listed["terminated"]...)
}

func hasSteps(g *explore.Graph, i int) (has bool) {
	g.Each(i, func(explore.Step, int) { has = true })
	return has
}
