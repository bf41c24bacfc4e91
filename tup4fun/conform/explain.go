package conform

import (
	"fmt"
	"slices"
	"strings"

	"leasehold/shared/space/trace"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// explain builds the violation that reports a mismatch. Of the possible states it shows the first
// one between steps; if all are in the middle of a step, the one after that step.
func (c *Checker) explain(m *mismatch) *Violation {
	v := &Violation{Why: m.why, Last: c.last}
	if m.observed != nil {
		v.Line, v.Event = m.observed.line, m.observed.event
		if n := len(v.Last); n > 0 && v.Last[n-1].Line == v.Line {
			v.Last = v.Last[:n-1]
		}
	}
	if m.contradicts {
		v.Last = slices.DeleteFunc(slices.Clone(v.Last), func(s Seen) bool { return !related(s.Event, v.Event) })
	}
	if m.in == nil {
		return v
	}
	v.Instance, v.Last, v.Meaning = m.in.title(), m.in.last, m.in.numberMeanings()
	states := m.states
	if states == nil {
		states = m.in.states
	}
	if m.want != nil {
		v.InModel = c.expectationText(m.want)
	}
	v.Allowed = c.allowed(states)
	if len(states) > 0 {
		x := states[max(0, slices.IndexFunc(states, func(c candidate) bool { return !c.midStep() }))]
		if x.midStep() {
			x.state = x.step.move.To
		}
		v.State, v.Others = c.walker.Config(x.state), len(states)-1
	}
	return v
}

// related reports whether two events concern the same tuple or the same lease. If b has
// neither, it reports whether the same session did both.
func related(a, b trace.Event) bool {
	if b.Ref == 0 && b.Lease == "" {
		return a.Process == b.Process
	}
	return b.Ref != 0 && a.Ref == b.Ref || b.Lease != "" && a.Lease == b.Lease
}

// maxAllowed bounds the actions that a message lists.
const maxAllowed = 20

// allowed lists the actions that the model allows next in one of the states, sorted and at most
// maxAllowed. Copies of a process that allow the same action are one entry. An error of the model
// is ignored here, because it would have ended the check earlier.
func (c *Checker) allowed(states []candidate) (all []Allowed) {
	add := func(st *step, shown int) {
		if shown >= len(st.actions) || len(all) == maxAllowed {
			return
		}
		d := st.actions[shown]
		p := c.model.Procs[st.move.Proc]
		a := Allowed{InModel: p.Code.Proc.Title + ": " + c.actionText(d.Verb, d.Space, d.Tuple, nil), Copies: []int64{p.Number}}
		if i := slices.IndexFunc(all, func(b Allowed) bool { return a.InModel == b.InModel }); i >= 0 {
			if !slices.Contains(all[i].Copies, p.Number) {
				all[i].Copies = append(all[i].Copies, p.Number)
			}
			return
		}
		a.InLog = c.patternsFor(st, shown)
		all = append(all, a)
	}
	for _, x := range states {
		if x.midStep() {
			add(x.step, x.shown)
			continue
		}
		steps, _ := c.steps(x.state) // after an error it has none to explain
		for _, st := range steps {
			add(st, 0)
		}
	}
	slices.SortFunc(all, func(a, b Allowed) int { return strings.Compare(a.InModel, b.InModel) })
	return all
}

// patternsFor lists the event patterns that could show the next actions of a step; the log has
// shown its first shown actions. A pattern counts if the actions of its rule are the next ones of
// the step and its process is the rule's. Rules of restored tuples do not count, because these show
// a state and no step.
func (c *Checker) patternsFor(st *step, shown int) (all []string) {
	p := c.model.Procs[st.move.Proc]
	for _, r := range c.mapping.Rules {
		rest := st.actions[shown:]
		otherProcess := r.By != "" && r.By != p.Code.Proc.Title
		if len(r.resolved) == 0 || len(r.resolved) > len(rest) || otherProcess || r.Event.Operations[0] == trace.Restore {
			continue
		}
		fits := true
		for i, o := range r.resolved {
			fits = fits && o.fits(rest[i], r.Copy, p.Number)
		}
		if text := r.Event.String(); fits && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// fits reports whether d can be the action o of the copy with that number; 0 is a process
// without copies. variable is the variable of the event that has the number. Other
// variables fit any value.
func (o resolvedAction) fits(d explore.Operation, variable string, number int64) bool {
	if o.verb != d.Verb || o.space != d.Space || len(o.fields) != len(d.Tuple) {
		return false
	}
	for i, f := range o.fields {
		if f.Kind == Number && f.Value != d.Tuple[i] || number > 0 && f.Kind == Name && f.Text == variable && number != d.Tuple[i] {
			return false
		}
	}
	return true
}

// String lists the events that a pattern covers, as a map writes it; of the fields only a text at
// the beginning, which names the kind of tuple.
func (e Pattern) String() string {
	parts := []string{strings.Join(e.Operations, " or ")}
	for _, s := range []string{e.Place, e.Space} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(e.Tuple) > 0 && e.Tuple[0].Kind == Text {
		parts = append(parts, fmt.Sprintf("(%q, …)", e.Tuple[0].Text))
	}
	if len(e.Results) > 0 {
		parts = append(parts, "= "+strings.Join(e.Results, " or "))
	}
	if len(e.Written) > 0 {
		parts = append(parts, "in "+strings.Join(e.Written, " or "))
	}
	if e.Role != "" {
		parts = append(parts, "from "+e.Role)
	}
	return strings.Join(parts, " ")
}

// expectationText returns the process, with the number of its copy if it is known, and the actions
// of want as the model writes them.
func (c *Checker) expectationText(want *expectation) string {
	who := want.by
	if want.number > 0 {
		who += fmt.Sprintf("(%d)", want.number)
	}
	if who == "" {
		who = "any process"
	}
	var actions []string
	for _, d := range want.actions {
		actions = append(actions, c.actionText(d.verb, d.space, d.values, d.free))
	}
	return who + ": " + strings.Join(actions, "; ")
}

// actionText prints an action. free marks the fields that match any value; nil if none
// does.
func (c *Checker) actionText(verb syntax.Verb, space int, values []int64, free []bool) string {
	fields := make([]string, len(values))
	for i, v := range values {
		fields[i] = c.model.Program.Show(v)
		switch {
		case free != nil && free[i]:
			fields[i] = "_"
		case v == nowhere:
			fields[i] = "unknown"
		}
	}
	return fmt.Sprintf("%s.%s(%s)", c.model.Spaces[space].Name, verb, strings.Join(fields, ", "))
}

// unseen lists the operations of the model that the rules cover and the log did not show, in the
// order of the model.
func (c *Checker) unseen() (all []Unseen) {
	for _, code := range c.model.Codes {
		for _, n := range code.Nodes {
			for _, e := range n.Edges {
				if e.Op == nil || c.covered[e.Pos] || !c.shown[action{verbOf(e.Op.Verb), e.Op.Space.Obj.Index}] {
					continue
				}
				all = append(all, Unseen{code.Proc.Title, e.Pos, e.Text})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Unseen) int { return a.Pos.Compare(b.Pos) })
	return all
}

// verbOf maps a non-blocking verb to its effect when it finds a tuple.
func verbOf(v syntax.Verb) syntax.Verb {
	switch v {
	case syntax.GetP:
		return syntax.Get
	case syntax.QueryP:
		return syntax.Query
	}
	return v
}

// unused lists the lines of the rules that covered no event.
func (c *Checker) unused() (lines []int) {
	for _, r := range c.mapping.Rules {
		if !c.used[r] && len(r.Actions) > 0 {
			lines = append(lines, r.Pos.Line)
		}
	}
	return lines
}
