package page

import (
	"context"
	"fmt"
	"strings"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// maxFinals is how many final configurations are listed.
const maxFinals = 20

// graphView is a program graph.
type graphView struct {
	Warnings []mistake `json:"warnings"`
	SVG      string    `json:"svg"` // empty: too large
}

func (p *Page) graph(_ context.Context, m *explore.Model, s session) (any, error) {
	v := graphView{Warnings: s.mistakes(syntax.Warn(m.Program))}
	if g := draw.Program(m); len(g.Nodes) <= draw.MaxNodes {
		v.SVG = g.SVG()
	}
	return v, nil
}

// runView is a run as far as it was chosen, and what can be chosen next.
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

func (p *Page) run(ctx context.Context, m *explore.Model, s session) (any, error) {
	r := explore.NewRun(m)
	for i, choice := range s.Choices {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !r.Take(choice) {
			return nil, fmt.Errorf("step %d cannot be choice %d: the program was changed", i+1, choice)
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
		v.State, v.Reason = "stuck", "nothing can be done"
	}
	return v, nil
}

func (s session) steps(all []explore.Step) []stepView {
	views := make([]stepView, len(all))
	for i, st := range all {
		texts := make([]string, len(st.Actions))
		for k, a := range st.Actions {
			if texts[k] = a.Text; a.Tuple != "" {
				texts[k] = a.Space + "." + a.Verb + a.Tuple
			}
		}
		box, line := s.place(st.Pos.Line)
		views[i] = stepView{st.Process, strings.Join(texts, "; "), box, line}
	}
	return views
}

// config puts a configuration in words, with the lines of the boxes.
func (s session) config(c explore.Config) string {
	for i := range c.Processes {
		_, c.Processes[i].Pos.Line = s.place(c.Processes[i].Pos.Line)
	}
	return draw.Config(c)
}

// statesView is all that a program can lead to.
type statesView struct {
	States     int      `json:"states"`
	Stuck      int      `json:"stuck"`
	Terminated int      `json:"terminated"`
	Reason     string   `json:"reason"` // why these are not all
	Finals     []string `json:"finals"` // the first of the stuck and the terminated
	SVG        string   `json:"svg"`    // empty: too large
}

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
		if v.count(g, i) && len(v.Finals) < maxFinals {
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

// lastWithSteps is where the part of a graph that was cut begins.
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

// count counts a state if it is final, and reports whether it is.
func (v *statesView) count(g *explore.Graph, i int) bool {
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

// checkView is a report, with a drawing of each run that violates something.
type checkView struct {
	*explore.Report
	Sequences []string `json:"sequences"` // by verdict; empty: there is none
}

func (p *Page) check(ctx context.Context, m *explore.Model, _ session) (any, error) {
	r, err := explore.Check(ctx, m, p.limits.options())
	if err != nil {
		return nil, err
	}
	v := checkView{r, make([]string, len(r.Verdicts))}
	for i := range r.Verdicts {
		if t := r.Verdicts[i].Trace; t != nil {
			v.Sequences[i], r.Verdicts[i].Trace = draw.SequenceSVG(t), nil
		}
	}
	return v, nil
}
