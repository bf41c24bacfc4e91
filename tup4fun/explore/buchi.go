package explore

import (
	"errors"
	"slices"
)

// A buchi is a generalised Büchi automaton: it reads one letter (the atoms that
// hold) on entering a node. A run is accepted if it is in a node of each set again
// and again.
type buchi struct {
	nodes []buchiNode
	start []int32
	sets  int
}

type buchiNode struct {
	must, mustNot uint64  // atoms
	next          []int32 // nodes
	sets          uint64  // that the node is in
}

// reads reports whether a letter lets the automaton enter the node.
func (n *buchiNode) reads(letter uint64) bool {
	return letter&n.must == n.must && letter&n.mustNot == 0
}

// maxBuchi is how many nodes an automaton may have.
const maxBuchi = 5000

var errLarge = errors.New("the formula is too large")

// tableau is the construction of Gerth, Peled, Vardi and Wolper (1995).
type tableau struct {
	fs    *formulas
	nodes []*tableauNode
	err   error
}

type tableauNode struct {
	id            int
	incoming      []int // -1: the start
	fresh         []int // formulas that are not dealt with
	old, next     []int
	must, mustNot uint64
}

// automaton returns one that accepts the runs in which formula id holds.
func (fs *formulas) automaton(id int) (*buchi, error) {
	t := &tableau{fs: fs}
	t.expand(&tableauNode{incoming: []int{-1}, fresh: []int{id}})
	if t.err != nil {
		return nil, t.err
	}
	b := &buchi{nodes: make([]buchiNode, len(t.nodes))}
	for _, n := range t.nodes {
		b.nodes[n.id].must, b.nodes[n.id].mustNot = n.must, n.mustNot
		for _, from := range n.incoming {
			if from < 0 {
				b.start = append(b.start, int32(n.id))
			} else {
				b.nodes[from].next = append(b.nodes[from].next, int32(n.id))
			}
		}
	}
	for u, f := range fs.all {
		if f.op != fUntil || b.sets == 64 {
			continue
		}
		for _, n := range t.nodes {
			if !slices.Contains(n.old, u) || slices.Contains(n.old, f.b) {
				b.nodes[n.id].sets |= 1 << b.sets
			}
		}
		b.sets++
	}
	return b, nil
}

func (t *tableau) expand(n *tableauNode) {
	if t.err != nil || len(t.nodes) > maxBuchi {
		t.err = errLarge
		return
	}
	if len(n.fresh) == 0 {
		t.settle(n)
		return
	}
	id := n.fresh[len(n.fresh)-1]
	n.fresh = n.fresh[:len(n.fresh)-1]
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
		if n.must |= 1 << f.a; n.mustNot>>f.a&1 == 1 {
			return
		}
	case fNotAtom:
		if n.mustNot |= 1 << f.a; n.must>>f.a&1 == 1 {
			return
		}
	case fAnd:
		n.fresh = append(n.fresh, f.a, f.b)
	case fOr:
		t.fork(n, []int{f.a}, nil, []int{f.b})
		return
	case fUntil:
		t.fork(n, []int{f.a}, []int{id}, []int{f.b})
		return
	case fRelease:
		t.fork(n, []int{f.b}, []int{id}, []int{f.a, f.b})
		return
	}
	t.expand(n)
}

// fork goes on in two ways: with left now and next later, or with right now.
func (t *tableau) fork(n *tableauNode, left, next, right []int) {
	other := *n
	other.incoming, other.old, other.next = slices.Clone(n.incoming), slices.Clone(n.old), slices.Clone(n.next)
	other.fresh = slices.Concat(n.fresh, right)
	n.fresh = slices.Concat(n.fresh, left)
	n.next = append(n.next, next...)
	t.expand(n)
	t.expand(&other)
}

// settle makes a node of n, or finds that it is there.
func (t *tableau) settle(n *tableauNode) {
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
	t.expand(&tableauNode{incoming: []int{n.id}, fresh: slices.Clone(n.next)})
}
