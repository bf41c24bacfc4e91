package draw

import "leasehold/tup4fun/petri"

// Markings returns a graph of markings of a net, at most MaxNodes of them. A marking in
// which no transition can fire is Terminated if it is a final marking, otherwise Stuck.
func Markings(g *petri.Graph) Graph {
	drawn := Graph{Title: g.Net.Name}
	n := min(g.Len(), MaxNodes)
	for i := range n {
		m := g.Marking(i)
		node := Node{Label: g.Net.Text(m)}
		switch {
		case i == 0:
			node.Mark = Start
		case !g.Net.CanMove(m) && g.Net.IsFinal(m):
			node.Mark = Terminated
		case !g.Net.CanMove(m):
			node.Mark = Stuck
		}
		drawn.Nodes = append(drawn.Nodes, node)
		for _, e := range g.Edges(i) {
			if e.To < n {
				drawn.Edges = append(drawn.Edges, Edge{i, e.To, g.Net.Transitions[e.Transition].Name})
			}
		}
	}
	return drawn
}
