package explore

import (
	"fmt"
	"strings"

	"leasehold/tup4fun/syntax"
)

// signature describes all steps of a process. Processes with the same signature share their
// code, except those that read the number of their copy (Code.UsesNumber).
func (c *Code) signature() string {
	var b strings.Builder
	if c.Proc.Name != nil {
		b.WriteString(c.Proc.Name.Text)
	}
	for _, n := range c.Nodes {
		fmt.Fprintf(&b, "\n%s:", n.Label)
		for _, e := range append(n.Edges, n.timeouts...) {
			fmt.Fprintf(&b, " %d %s %d %d %d;", e.Kind, e.Text, e.To, e.Entry, e.Last)
		}
	}
	return b.String()
}

// findLive computes the variables that may be read before they are written, at each node. Others
// are dead, so the search may set them to 0. It goes over all edges, from the end, until nothing
// changes.
func (m *Model) findLive() {
	for _, c := range m.Codes {
		for _, n := range c.Nodes {
			n.live = make([]bool, len(c.Locals))
			n.liveMem = make([]bool, len(m.Variables))
		}
		for changed := true; changed; {
			changed = false
			for i := len(c.Nodes) - 1; i >= 0; i-- {
				for _, e := range append(c.Nodes[i].Edges, c.Nodes[i].timeouts...) {
					changed = c.propagateLive(e) || changed
				}
			}
		}
	}
	for v := range m.Variables {
		m.hasDeadShared = m.hasDeadShared || m.deadSomewhere(v)
	}
}

// deadSomewhere reports whether the shared variable v is dead at some node. One that a property
// reads never is.
func (m *Model) deadSomewhere(v int) bool {
	if m.observe[v] {
		return false
	}
	for _, c := range m.Codes {
		for _, n := range c.Nodes {
			if !n.liveMem[v] {
				return true
			}
		}
	}
	return false
}

// propagateLive adds the variables that are live because of e to its node, and reports whether
// there were new ones. For an atomic block, those live behind it are live at its last node, and
// those live at its entry are live before it.
func (c *Code) propagateLive(e *Edge) bool {
	from, to := c.Nodes[e.From], c.Nodes[e.To]
	if e.Kind == Atomic {
		last := c.Nodes[e.Last]
		changed := merge(last.live, to.live, nil, nil)
		changed = merge(last.liveMem, to.liveMem, nil, nil) || changed
		to = c.Nodes[e.Entry]
		changed = merge(from.live, to.live, nil, nil) || changed
		return merge(from.liveMem, to.liveMem, nil, nil) || changed
	}
	changed := merge(from.live, to.live, e.reads.locals, e.kills.locals)
	return merge(from.liveMem, to.liveMem, e.reads.mem, e.kills.mem) || changed
}

// merge marks in before what is read, or live after and not killed. It reports whether
// there were new ones.
func merge(before, after []bool, reads, kills map[int]bool) bool {
	changed := false
	for v := range before {
		if !before[v] && (reads[v] || after[v] && !kills[v]) {
			before[v], changed = true, true
		}
	}
	return changed
}

// findAmple finds the nodes where the steps touch neither shared variables nor spaces,
// which are all that properties read. If a process is at such a node, exploring its steps
// alone is enough (ample sets, Peled 1994). A cycle of such nodes would postpone all
// other processes forever, so one node of each cycle is excluded.
func (m *Model) findAmple() {
	for _, c := range m.Codes {
		for _, n := range c.Nodes {
			n.ample = !n.inner && len(n.Edges) > 0 && len(n.timeouts) == 0 && !n.footprint.mem && len(n.footprint.spaces) == 0
		}
		state := make([]visitState, len(c.Nodes))
		for i := range c.Nodes {
			c.cutCycles(i, state)
		}
	}
}

// visitState is how far cutCycles is with a node; the zero value is a node that it has not reached.
type visitState uint8

const (
	onPath visitState = iota + 1
	visited
)

// cutCycles searches depth first from root, without recursion, and makes the node at
// which a cycle of ample nodes closes not ample. state keeps the nodes that are visited
// between calls.
func (c *Code) cutCycles(root int, state []visitState) {
	type visit struct{ node, edge int }
	path := []visit{{node: root}}
	for len(path) > 0 {
		v := &path[len(path)-1]
		n := c.Nodes[v.node]
		if v.edge == 0 && state[v.node] == visited {
			path = path[:len(path)-1]
			continue
		}
		state[v.node] = onPath
		if !n.ample || v.edge == len(n.Edges) {
			state[v.node] = visited
			path = path[:len(path)-1]
			continue
		}
		to := n.Edges[v.edge].To
		v.edge++
		switch {
		case !c.Nodes[to].ample:
		case state[to] == onPath:
			c.Nodes[to].ample = false
		case state[to] == 0:
			path = append(path, visit{node: to})
		}
	}
}

// MayWait reports whether a process may wait forever at a node: it has ended there, or the property
// deadlockfree excepts the place.
func (c *Code) MayWait(p *syntax.Property, node int) bool {
	if node == c.Final {
		return true
	}
	for _, e := range p.Except {
		if c.Proc.Name != nil && e.Process.Text == c.Proc.Name.Text && (e.Label == nil || e.Label.Text == c.Nodes[node].Label) {
			return true
		}
	}
	return false
}
