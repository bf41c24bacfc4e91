package explore

// letters are the atoms of some formulas that hold along the edges of a graph: bits of the state that an
// edge leads to, and of the events of its step.
type letters struct {
	graph     *Graph
	formulas  *formulas
	states    []uint64 // by state: bits of the atoms that hold
	hasEvents bool
}

// newLetters computes the atoms that hold in each state.
func (g *Graph) newLetters(fs *formulas) *letters {
	l := &letters{graph: g, formulas: fs, states: make([]uint64, g.Len())}
	for i := range l.states {
		l.states[i] = fs.stateAtoms(g.expander.propertyFrame(g.state(i)))
	}
	for _, a := range fs.atoms {
		l.hasEvents = l.hasEvents || a.test == nil
	}
	return l
}

// after returns the atoms that hold after edge e.
func (l *letters) after(e graphEdge) uint64 {
	bits := l.states[e.to]
	if l.hasEvents && len(l.graph.events[e.label]) > 0 {
		bits |= l.formulas.eventAtoms(l.graph.expander.propertyFrame(l.graph.state(int(e.to))), l.graph.events[e.label])
	}
	return bits
}

// some reports whether a test is true of the letter of the initial state or of an edge.
func (l *letters) some(test func(letter uint64) bool) bool {
	if test(l.states[0]) {
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
