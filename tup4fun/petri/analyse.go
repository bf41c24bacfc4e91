package petri

import "slices"

// Report is what is known of a net. What is nil or empty because the graph was not
// whole is said by Whole.
type Report struct {
	Name        string   `json:"name"`
	Places      int      `json:"places"`
	Transitions int      `json:"transitions"`
	Bounded     *bool    `json:"bounded"`    // null: the limit was reached
	Unbounded   []string `json:"unbounded"`  // places that may have arbitrarily many tokens
	Bound       int64    `json:"bound"`      // most tokens in a place; -1: none or not known
	Markings    int      `json:"markings"`   // of the reachability graph, if it is bounded
	Edges       int      `json:"edges"`      // likewise
	Dead        []string `json:"dead"`       // markings in which nothing can fire
	Live        *bool    `json:"live"`       // each transition may fire again, whatever happens
	NotLive     []string `json:"not_live"`   // transitions that are not
	Reversible  *bool    `json:"reversible"` // the start can be reached from everywhere
	SFlows      []string `json:"s_semiflows"`
	TFlows      []string `json:"t_semiflows"`
}

// Analyse answers all questions about a net, with graphs of at most limit markings.
func (n *Net) Analyse(limit int) *Report {
	r := &Report{Name: n.Name, Places: len(n.Places), Transitions: len(n.Transitions), Bound: -1,
		Unbounded: []string{}, Dead: []string{}, NotLive: []string{}}
	r.SFlows, r.TFlows = n.SFlows(), n.TFlows()
	cover := n.Cover(limit)
	for p, name := range n.Places {
		if slices.ContainsFunc(cover.Markings, func(m Marking) bool { return m[p] == Omega }) {
			r.Unbounded = append(r.Unbounded, name)
		}
	}
	if bounded := len(r.Unbounded) == 0; cover.Whole || !bounded {
		r.Bounded = &bounded
	}
	if r.Bounded == nil || !*r.Bounded {
		return r
	}
	g := n.Reach(limit, nil)
	if !g.Whole {
		return r
	}
	r.Bound = 0
	for _, m := range g.Markings {
		r.Bound = max(r.Bound, slices.Max(append(m, 0)))
	}
	r.Markings, r.Edges = len(g.Markings), len(g.Edges)
	n.behaviour(g, r)
	return r
}

// behaviour fills in what the whole reachability graph tells.
func (n *Net) behaviour(g *Graph, r *Report) {
	fires := make([]bool, len(g.Markings))
	for _, e := range g.Edges {
		fires[e.From] = true
	}
	for i, m := range g.Markings {
		if !fires[i] {
			r.Dead = append(r.Dead, n.Text(m))
		}
	}
	part, bottom := g.parts()
	reversible := len(bottom) == 1
	r.Reversible = &reversible
	again := make([][]bool, len(bottom)) // by part: transitions within it
	for i := range again {
		again[i] = make([]bool, len(n.Transitions))
	}
	for _, e := range g.Edges {
		if part[e.From] == part[e.To] {
			again[part[e.From]][e.Transition] = true
		}
	}
	for t := range n.Transitions {
		for p := range bottom {
			if bottom[p] && !again[p][t] {
				r.NotLive = append(r.NotLive, n.Transitions[t].Name)
				break
			}
		}
	}
	live := len(r.NotLive) == 0
	r.Live = &live
}

// Coverable reports whether a marking with at least these tokens can be reached;
// known is false if the limit was reached before.
func (n *Net) Coverable(m Marking, limit int) (coverable, known bool) {
	g := n.Cover(limit)
	for _, have := range g.Markings {
		enough := true
		for p := range m {
			enough = enough && have[p] >= m[p]
		}
		if enough {
			return true, true
		}
	}
	return false, g.Whole
}
