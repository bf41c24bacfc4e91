package explore

import (
	"leasehold/tup4fun/syntax"
)

// prop is a compiled property.
type prop struct {
	*syntax.Property
	holds truth // Invariant
	space int   // Bound
	limit int
	foot  footprint
}

// properties compiles what is asked of the states; what is asked of runs is
// compiled by compileLTL.
func (c *compiler) properties() {
	m := c.model
	props := m.Program.Props
	if len(props) == 0 { // nothing is asked: the question that everybody has
		props = []*syntax.Property{{Kind: syntax.DeadlockFree, Name: "deadlockfree"}}
	}
	c.code = &Code{}
	for _, p := range props {
		c.fresh()
		cp := prop{Property: p}
		switch p.Kind {
		case syntax.Bound:
			cp.space, cp.limit = p.Space.Obj.Index, int(p.X.Value)
		case syntax.Invariant:
			cp.holds = c.truth(p.X)
		case syntax.Eventually, syntax.LeadsTo, syntax.LTL:
			c.atoms(p.X)
			if p.Y != nil {
				c.atoms(p.Y)
			}
		}
		for v := range c.reads.mem {
			m.observe[v] = true
		}
		cp.foot.mem = c.foot.mem
		for s := range c.foot.spaces {
			cp.foot.spaces = append(cp.foot.spaces, s)
		}
		m.props = append(m.props, cp)
	}
}

// overRuns reports whether p speaks of whole runs and not of states.
func (p *prop) overRuns() bool {
	return p.Kind == syntax.Eventually || p.Kind == syntax.LeadsTo || p.Kind == syntax.LTL
}

// atoms notes what an expression of time looks at.
func (c *compiler) atoms(x *syntax.Expr) {
	switch {
	case x == nil:
	case x.Kind == syntax.Event:
		c.model.events = true
		c.fields(x.Fields)
	case temporal(x):
		c.atoms(x.X)
		c.atoms(x.Y)
	default:
		c.truth(x)
	}
}

// temporal reports whether x says something of time or events.
func temporal(x *syntax.Expr) bool {
	if x == nil {
		return false
	}
	switch x.Kind {
	case syntax.Always, syntax.Finally, syntax.Event:
		return true
	}
	return x.Op == "U" || x.Op == "W" || temporal(x.X) || temporal(x.Y)
}

// view is the spaces and shared variables of a state, for a property to look at.
func (x *expander) view(s []uint32) *frame {
	f, mem := &frame{tuples: x.t.tuples}, len(x.m.Procs)
	f.mem = x.t.mem.get(s[mem])
	for i := range x.m.Spaces {
		f.spaces = append(f.spaces, x.t.spaces.get(s[mem+1+i]))
	}
	return f
}
