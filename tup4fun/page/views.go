package page

import (
	"context"
	"fmt"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// maxFinals bounds the final configurations that are listed.
const maxFinals = 20

// graphView is a program graph.
type graphView struct {
	Warnings []boxError `json:"warnings"`
	SVG      string     `json:"svg"` // empty if the graph is too large
}

// graph returns the drawing of the program graph, and the warnings about the program. It never
// fails.
func (p *Page) graph(_ context.Context, m *explore.Model, s session) (any, error) {
	v := graphView{Warnings: s.boxErrors(syntax.Warn(m.Program))}
	if g := draw.Program(m); len(g.Nodes) <= draw.MaxNodes {
		v.SVG = g.SVG()
	}
	return v, nil
}

// runView is the chosen run and the possible next steps.
type runView struct {
	Steps    []stepView `json:"steps"`
	Choices  []stepView `json:"choices"`
	End      string     `json:"end"`   // the configuration
	State    string     `json:"state"` // terminated, stuck or extendable
	Reason   string     `json:"reason"`
	Sequence string     `json:"sequence"`
}

type stepView struct {
	Process string `json:"process"`
	Text    string `json:"text"`
	Box     string `json:"box"`
	Line    int    `json:"line"`
}

// run follows the steps that the visitor chose, and returns the state after them and the
// choices for the next one. The error is about a choice that the program, as it is now,
// does not have.
func (p *Page) run(ctx context.Context, m *explore.Model, s session) (any, error) {
	r := explore.NewRun(m)
	for i, choice := range s.Choices {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !r.Take(choice) {
			return nil, fmt.Errorf("step %d has no choice %d: the program was changed", i+1, choice)
		}
	}
	t := r.Trace()
	v := runView{Steps: s.steps(t.Steps), End: s.config(t.End), State: "extendable", Sequence: draw.SequenceSVG(t)}
	can, err := r.Choices()
	v.Choices = s.steps(can)
	switch {
	case err != nil:
		v.State, v.Reason = "stuck", err.Error()
	case len(can) == 0 && r.Terminated():
		v.State = "terminated"
	case len(can) == 0:
		v.State, v.Reason = "stuck", "no process can continue"
	}
	return v, nil
}

// steps returns steps with the texts of their actions, and with the box and the line in it where
// each stands.
func (s session) steps(all []explore.Step) []stepView {
	views := make([]stepView, len(all))
	for i, st := range all {
		box, line := s.boxLine(st.Pos.Line)
		views[i] = stepView{st.Process, draw.ActionsText(st), box, line}
	}
	return views
}

// config describes a configuration, with the lines of the boxes.
func (s session) config(c explore.Config) string {
	for i := range c.Processes {
		_, c.Processes[i].Pos.Line = s.boxLine(c.Processes[i].Pos.Line)
	}
	return draw.Config(c)
}

// statesView summarizes the reachable states.
type statesView struct {
	States     int      `json:"states"`
	Stuck      int      `json:"stuck"`
	Terminated int      `json:"terminated"`
	Reason     string   `json:"reason"` // why the states are incomplete
	Finals     []string `json:"finals"` // the first stuck and terminated states
	SVG        string   `json:"svg"`    // empty if the graph is too large
}

// states counts the reachable states. If a bound was reached, the last states are not expanded
// and are not counted as final. It explores without the reduction, which would leave out states.
// It never fails.
func (p *Page) states(ctx context.Context, m *explore.Model, s session) (any, error) {
	o := p.limits.options()
	o.Reduction = explore.Reduction{}
	g, reason := explore.Build(ctx, m, o)
	v := statesView{States: g.Len(), Reason: reason, Finals: []string{}}
	expanded := g.Len()
	if reason != "" {
		expanded = lastWithSteps(g)
	}
	for i := range expanded {
		if v.countFinal(g, i) && len(v.Finals) < maxFinals {
			what := "stuck"
			if g.Terminated(i) {
				what = "terminated"
			}
			v.Finals = append(v.Finals, what+"\n"+s.config(g.Config(i)))
		}
	}
	if reason == "" && g.Len() <= p.limits.Drawn {
		v.SVG = draw.States(g, "").SVG()
	}
	return v, nil
}

// lastWithSteps returns the last state of an incomplete graph that has steps. The states
// after it are not expanded.
func lastWithSteps(g *explore.Graph) int {
	for i := g.Len() - 1; i >= 0; i-- {
		if steps(g, i) > 0 {
			return i
		}
	}
	return 0
}

func steps(g *explore.Graph, i int) (n int) {
	g.Each(i, func(explore.Step, int) { n++ })
	return n
}

// countFinal counts state i if it has no steps, as terminated or stuck, and reports whether it
// has none.
func (v *statesView) countFinal(g *explore.Graph, i int) bool {
	switch {
	case steps(g, i) > 0:
		return false
	case g.Terminated(i):
		v.Terminated++
	default:
		v.Stuck++
	}
	return true
}

// checkView is a report with a drawing of each violating run.
type checkView struct {
	*explore.Report
	Sequences []string `json:"sequences"` // by verdict; empty without a run
}

// check explores the program within the limits; what they leave unknown is in the report, so it
// never fails. The page gets drawings in place of the traces.
func (p *Page) check(ctx context.Context, m *explore.Model, _ session) (any, error) {
	r := explore.Check(ctx, m, p.limits.options())
	v := checkView{r, make([]string, len(r.Verdicts))}
	for i := range r.Verdicts {
		if t := r.Verdicts[i].Trace; t != nil {
			v.Sequences[i], r.Verdicts[i].Trace = draw.SequenceSVG(t), nil
		}
	}
	return v, nil
}
