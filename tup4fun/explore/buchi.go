package explore

import (
	"fmt"
	"slices"
)

// buchi is a generalised Büchi automaton. It reads one letter (the atoms that hold) when
// it enters a node. It accepts a run that visits each set of nodes infinitely often.
type buchi struct {
	nodes []buchiNode
	start []int32
	sets  int
}

type buchiNode struct {
	must, mustNot uint64  // atoms
	next          []int32 // nodes
	sets          uint64  // bits of the sets that contain the node
}

// reads reports whether the automaton may enter the node with this letter.
func (n *buchiNode) reads(letter uint64) bool {
	return letter&n.must == n.must && letter&n.mustNot == 0
}

// maxBuchi bounds the nodes of an automaton, and maxSets its sets, because a node has one bit
// for each.
const (
	maxBuchi = 5000
	maxSets  = 64
)

var (
	errLarge    = fmt.Errorf("the formula needs more than %d nodes in its automaton", maxBuchi)
	errManySets = fmt.Errorf("the formula has more than %d untils", maxSets)
)

// tableau is the construction of Gerth, Peled, Vardi and Wolper (1995).
type tableau struct {
	fs    *formulas
	nodes []*tableauNode
	err   error
}

type tableauNode struct {
	id            int
	incoming      []int // ids of nodes; -1: the start
	pending       []int // formulas still to be expanded
	old, next     []int // formulas that hold now, and from the next letter on
	must, mustNot uint64
}

// automaton returns an automaton that accepts the runs in which formula id holds. It has
// one set for each until: the nodes that do not wait for its right side. The error is
// errLarge or errManySets.
func (fs *formulas) automaton(id int) (*buchi, error) {
	t := &tableau{fs: fs}
	t.expand(&tableauNode{incoming: []int{-1}, pending: []int{id}})
	if t.err != nil {
		return nil, t.err
	}
	b := &buchi{nodes: make([]buchiNode, len(t.nodes))}
	for _, n := range t.nodes {
		b.nodes[n.id].must, b.nodes[n.id].mustNot = n.must, n.mustNot
		for _, from := range n.incoming {
			if from < 0 { // the start
				b.start = append(b.start, int32(n.id))
			} else {
				b.nodes[from].next = append(b.nodes[from].next, int32(n.id))
			}
		}
	}
	for u, f := range fs.all {
		if f.op != fUntil {
			continue
		}
		if b.sets == maxSets {
			return nil, errManySets
		}
		for _, n := range t.nodes {
			if !slices.Contains(n.old, u) || slices.Contains(n.old, f.right) {
				b.nodes[n.id].sets |= 1 << b.sets
			}
		}
		b.sets++
	}
	return b, nil
}

// expand processes the pending formulas of a node (Gerth et al.) and adds the nodes that
// it becomes. A node with a contradiction is dropped. The recursion ends, because each
// call removes a pending formula or adds a node, and maxBuchi bounds the nodes; beyond it
// t.err is set.
func (t *tableau) expand(n *tableauNode) {
	if t.err != nil || len(t.nodes) > maxBuchi {
		t.err = errLarge
		return
	}
	if len(n.pending) == 0 {
		t.addNode(n)
		return
	}
	id := n.pending[len(n.pending)-1]
	n.pending = n.pending[:len(n.pending)-1]
	if slices.Contains(n.old, id) {
		t.expand(n)
		return
	}
	f := t.fs.all[id]
	n.old = append(n.old, id)
	switch f.op {
	case fTrue:
	case fFalse:
		return
	case fAtom:
		n.must |= 1 << f.left
		if n.mustNot>>f.left&1 == 1 { // a contradiction
			return
		}
	case fNotAtom:
		n.mustNot |= 1 << f.left
		if n.must>>f.left&1 == 1 { // a contradiction
			return
		}
	case fAnd:
		n.pending = append(n.pending, f.left, f.right)
	case fOr:
		t.fork(n, []int{f.left}, nil, []int{f.right})
		return
	case fUntil: // left now and the until next, or right now
		t.fork(n, []int{f.left}, []int{id}, []int{f.right})
		return
	case fRelease: // right now and the release next, or both now
		t.fork(n, []int{f.right}, []int{id}, []int{f.left, f.right})
		return
	}
	t.expand(n)
}

// fork expands n twice: with left now and next later, and with right now.
func (t *tableau) fork(n *tableauNode, left, next, right []int) {
	other := *n
	other.incoming, other.old, other.next = slices.Clone(n.incoming), slices.Clone(n.old), slices.Clone(n.next)
	other.pending = slices.Concat(n.pending, right)
	n.pending = slices.Concat(n.pending, left)
	n.next = append(n.next, next...)
	t.expand(n)
	t.expand(&other)
}

// addNode adds n to the automaton and expands its successor, or joins n with the node
// that has the same formulas.
func (t *tableau) addNode(n *tableauNode) {
	slices.Sort(n.old)
	slices.Sort(n.next)
	n.next = slices.Compact(n.next)
	for _, have := range t.nodes {
		if slices.Equal(have.old, n.old) && slices.Equal(have.next, n.next) {
			have.incoming = append(have.incoming, n.incoming...)
			return
		}
	}
	n.id = len(t.nodes)
	t.nodes = append(t.nodes, n)
	t.expand(&tableauNode{incoming: []int{n.id}, pending: slices.Clone(n.next)})
}

// components returns for each node the number of its component, and whether a run within it can be accepted: it has
// nodes of each set, and a move.
func (b *buchi) components() (of []int32, accept []bool) {
	of, accept = make([]int32, len(b.nodes)), make([]bool, len(b.nodes))
	count := int32(0)
	c := Components{
		Next: func(n int32, i int) (int32, bool) {
			if next := b.nodes[n].next; i < len(next) {
				return next[i], true
			}
			return 0, false
		},
		Found: func(component []int32) bool {
			var sets uint64
			for _, n := range component {
				of[n] = count
				sets |= b.nodes[n].sets
			}
			count++
			moves := len(component) > 1 || slices.Contains(b.nodes[component[0]].next, component[0])
			for _, n := range component {
				accept[n] = moves && sets == 1<<b.sets-1
			}
			return true
		},
	}
	for n := range b.nodes {
		c.From(int32(n))
	}
	return of, accept
}
