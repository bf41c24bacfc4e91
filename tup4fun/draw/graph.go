package draw

import (
	"fmt"
	"strings"

	"leasehold/tup4fun/explore"
)

// MaxNodes bounds the nodes of a drawing.
const MaxNodes = 2000

// Graph is a directed graph with labels at its nodes and edges.
type Graph struct {
	Title string `json:"title"`
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is a node; its number is the index in Graph.Nodes.
type Node struct {
	Label string `json:"label"`
	Mark  Mark   `json:"mark"`
}

// Mark is the role of a node.
type Mark string

// The marks.
const (
	Plain      Mark = ""
	Start      Mark = "start"
	Terminated Mark = "terminated"
	Stuck      Mark = "stuck"
)

// Edge is an edge between two nodes.
type Edge struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Label string `json:"label"`
}

// Program returns the program graphs of a model in one Graph. Equal processes share one. Nodes
// are added when an edge first reaches them, the entry first; q0, q1, … number those without a
// label in each process. The edge of an atomic block leads into and out of the nodes of its
// statements.
func Program(m *explore.Model) Graph {
	g := Graph{Title: m.Program.File}
	for _, c := range m.Codes {
		number := map[int]int{}
		add := func(n int) int {
			if id, ok := number[n]; ok {
				return id
			}
			node := Node{Label: fmt.Sprintf("q%d", len(number))}
			if c.Nodes[n].Label != "" {
				node.Label = c.Nodes[n].Label
			}
			switch n {
			case c.Entry:
				node.Label, node.Mark = c.Proc.Title+" "+node.Label, Start
			case c.Final:
				node.Mark = Terminated
			}
			number[n] = len(g.Nodes)
			g.Nodes = append(g.Nodes, node)
			return number[n]
		}
		add(c.Entry)
		for n := range c.Nodes {
			for _, e := range c.Nodes[n].All() {
				from := add(e.From)
				if e.Kind == explore.Atomic {
					g.Edges = append(g.Edges, Edge{from, add(e.Entry), "atomic {"}, Edge{add(e.Last), add(e.To), "}"})
					continue
				}
				g.Edges = append(g.Edges, Edge{from, add(e.To), e.Text})
			}
		}
	}
	return g
}

// States returns a state graph with at most MaxNodes states; edges to other states are
// left out. A state whose steps are not known ends with a line of dots.
func States(s *explore.Graph, title string) Graph {
	g := Graph{Title: title}
	n := min(s.Len(), MaxNodes)
	for i := range n {
		node := Node{Label: configLabel(s.Config(i))}
		out := 0
		s.Each(i, func(st explore.Step, to int) {
			if out++; to < n {
				g.Edges = append(g.Edges, Edge{i, to, stepText(st)})
			}
		})
		switch {
		case i == 0:
			node.Mark = Start
		case !s.Expanded(i):
			node.Label += "\n…"
		case out == 0 && s.Terminated(i):
			node.Mark = Terminated
		case out == 0:
			node.Mark = Stuck
		}
		g.Nodes = append(g.Nodes, node)
	}
	return g
}

// configLabel describes a state in short: its variables and spaces, and the positions of
// its processes by line and column.
func configLabel(c explore.Config) string {
	var lines, vars []string
	for _, v := range c.Variables {
		vars = append(vars, v.Name+"="+v.Value)
	}
	if len(vars) > 0 {
		lines = append(lines, strings.Join(vars, " "))
	}
	for _, s := range c.Spaces {
		lines = append(lines, s.Name+": "+strings.Join(s.Tuples, " "))
	}
	at := make([]string, len(c.Processes))
	for i, p := range c.Processes {
		at[i] = p.Pos.String()
		if p.Terminated {
			at[i] = "end"
		}
	}
	return strings.Join(append(lines, "at "+strings.Join(at, " ")), "\n")
}

// Steps returns a trace as a graph: a chain of numbered nodes. It ends in the last state, or with
// an edge back to the step from which the trace repeats (t.Cycle, -1 if it does not).
func Steps(t *explore.Trace, title string) Graph {
	g := Graph{Title: title}
	for i, s := range t.Steps {
		g.Nodes = append(g.Nodes, Node{Label: fmt.Sprint(i)})
		g.Edges = append(g.Edges, Edge{i, i + 1, stepText(s)})
	}
	last := Node{Label: configLabel(t.End), Mark: Stuck}
	if t.Cycle >= 0 {
		g.Edges[len(g.Edges)-1].To = t.Cycle
	} else {
		g.Nodes = append(g.Nodes, last)
	}
	if len(g.Nodes) > 1 {
		g.Nodes[0].Mark = Start
	}
	return g
}
