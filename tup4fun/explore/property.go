package explore

import (
	"maps"
	"slices"

	"leasehold/tup4fun/syntax"
)

// prop is a compiled property.
type prop struct {
	*syntax.Property
	holds     truth // Invariant
	space     int   // Bound
	limit     int
	footprint footprint // what it reads
	begins    []begin
}

// compileProperties compiles the properties of states, and notes for all properties what they read:
// in Model.observe, so that the search keeps these variables, and in a footprint. Properties of
// runs are compiled by newFormulas, because each quantified value needs a formula. It is called
// after the processes were compiled.
func (c *compiler) compileProperties() {
	m := c.model
	props := m.Program.Props
	if len(props) == 0 { // the default property
		props = []*syntax.Property{{Kind: syntax.DeadlockFree, Name: "deadlockfree"}}
	}
	c.code = &Code{} // the expressions belong to no process
	for _, p := range props {
		c.resetAccess()
		cp := prop{Property: p, begins: begins(p)}
		switch p.Kind {
		case syntax.Bound:
			cp.space, cp.limit = p.Space.Obj.Index, int(p.X.Value)
		case syntax.Invariant:
			cp.holds = c.compileTruth(p.X)
			for i := range cp.begins {
				cp.begins[i].holds = c.compileTruth(cp.begins[i].cond)
			}
		case syntax.Eventually, syntax.LeadsTo, syntax.LTL:
			c.noteAtoms(p.X)
			if p.Y != nil {
				c.noteAtoms(p.Y)
			}
		}
		for v := range c.reads.mem {
			m.observe[v] = true
		}
		cp.footprint = footprint{c.footprint.mem, slices.Sorted(maps.Keys(c.footprint.spaces))}
		m.props = append(m.props, cp)
	}
}

// isOverRuns reports whether p is about runs and not about states.
func (p *prop) isOverRuns() bool {
	return p.Kind == syntax.Eventually || p.Kind == syntax.LeadsTo || p.Kind == syntax.LTL
}

// noteAtoms records the variables and spaces that a temporal expression reads, and
// whether it has events. x may be nil.
func (c *compiler) noteAtoms(x *syntax.Expr) {
	switch {
	case x == nil:
	case x.Kind == syntax.Event:
		c.model.events = true
		c.compileFields(x.Fields)
	case x.IsTemporal():
		c.noteAtoms(x.X)
		c.noteAtoms(x.Y)
	default:
		c.compileTruth(x)
	}
}

// propertyFrame returns a frame with the spaces and shared variables of a state.
func (x *expander) propertyFrame(s []uint32) *frame {
	f := x.newPropertyFrame()
	x.loadPropertyFrame(f, s)
	return f
}

// newPropertyFrame returns a frame for loadPropertyFrame.
func (x *expander) newPropertyFrame() *frame {
	return &frame{tuples: x.tables.tuples, spaces: make([][]int64, len(x.model.Spaces))}
}

// loadPropertyFrame fills f with the spaces and shared variables of a state, and without an error.
func (x *expander) loadPropertyFrame(f *frame, s []uint32) {
	mem := len(x.model.Procs)
	f.err, f.mem = nil, x.tables.mem.get(s[mem])
	for i := range f.spaces {
		f.spaces[i] = x.tables.spaces.get(s[mem+1+i])
	}
}
