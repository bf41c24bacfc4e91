package explore

// letters are the atoms of some formulas that hold along the edges of a graph: bits of the state that an
// edge leads to, and of the events of its step.
type letters struct {
	graph    *Graph
	formulas *formulas
	states   []uint64 // by state: bits of the atoms that hold; nil if all atoms are events
	events   []uint64 // by label: bits of the events, if no event reads the state
	perEdge  bool     // some event reads the state
}

// newLetters computes the atoms that hold in each state, and those that match each label. If a field of an
// event reads the state, after matches the events of each edge.
func (g *Graph) newLetters(fs *formulas) *letters {
	l := &letters{graph: g, formulas: fs}
	hasStates, hasEvents := false, false
	for _, a := range fs.atoms {
		hasStates = hasStates || a.test != nil
		hasEvents = hasEvents || a.test == nil
		l.perEdge = l.perEdge || a.test == nil && a.readsState
	}
	if hasStates {
		l.states = make([]uint64, g.Len())
		f := g.expander.newPropertyFrame()
		for i := range l.states {
			g.expander.loadPropertyFrame(f, g.state(i))
			l.states[i] = fs.stateAtoms(f)
		}
	}
	if hasEvents && !l.perEdge {
		for _, events := range g.events {
			l.events = append(l.events, fs.eventAtoms(&frame{tuples: g.expander.tables.tuples}, events))
		}
	}
	return l
}

// at returns the atoms about states that hold in a state.
func (l *letters) at(state int32) uint64 {
	if l.states == nil {
		return 0
	}
	return l.states[state]
}

// after returns the atoms that hold after edge e.
func (l *letters) after(e graphEdge) uint64 {
	bits := l.at(e.to)
	switch {
	case l.events != nil:
		bits |= l.events[e.label]
	case l.perEdge && len(l.graph.events[e.label]) > 0:
		bits |= l.formulas.eventAtoms(l.graph.expander.propertyFrame(l.graph.state(int(e.to))), l.graph.events[e.label])
	}
	return bits
}

// some reports whether a test is true of the letter of the initial state or of an edge.
func (l *letters) some(test func(letter uint64) bool) bool {
	if test(l.at(0)) {
		return true
	}
	for _, edges := range l.graph.edges {
		for _, e := range edges {
			if test(l.after(e)) {
				return true
			}
		}
	}
	return false
}
