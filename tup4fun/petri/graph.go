package petri

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Options bounds an exploration. The zero value selects the defaults.
type Options struct {
	Markings  int   // 0: 200,000
	Memory    int64 // bytes of markings and edges; 0: 1 GiB
	Tokens    int64 // markings with more tokens in a place are not expanded; 0: no bound
	Semiflows int   // of each kind, and intermediate rows; 0: 500
}

// withDefaults returns the options with defaults for values that are 0 or negative.
func (o Options) withDefaults() Options {
	o.Markings = cmp.Or(max(o.Markings, 0), 200_000)
	o.Memory = cmp.Or(max(o.Memory, 0), 1<<30)
	o.Tokens = cmp.Or(max(o.Tokens, 0), Omega-1)
	o.Semiflows = cmp.Or(max(o.Semiflows, 0), 500)
	return o
}

// Graph is a graph of markings, numbered in the order of breadth-first search; 0 is the
// initial marking.
type Graph struct {
	Net    *Net
	Reason string // why the graph is incomplete; empty if it is complete
	keys   []string
	sums   []int64 // total tokens of each marking; Omega if any place has Omega
	number map[string]int32
	edges  [][]Edge
	from   []Edge // the first step to each marking: Edge.To is the marking before it
	pumps  []pump // how places grow without bound
	bytes  int64
}

// Edge is a firing and the marking that it leads to.
type Edge struct{ Transition, To int }

// pump is a firing sequence that can be repeated and adds tokens to places.
type pump struct {
	at     int // number of the marking before it
	loop   []int
	places []int
}

// Reach explores the reachable markings.
func Reach(ctx context.Context, n *Net, o Options) *Graph { return search(ctx, n, o, false) }

// Cover builds the coverability graph of Karp and Miller. A marking with Omega stands for
// reachable markings with arbitrarily many tokens there. Options.Tokens is ignored.
func Cover(ctx context.Context, n *Net, o Options) *Graph {
	o.Tokens = 0
	return search(ctx, n, o, true)
}

// search explores the markings breadth first, until there are no new ones, ctx ends or a bound is
// reached; for the last two Reason tells. Markings with too many tokens are kept and not
// expanded. With accelerate the search ends for every net (Karp and Miller).
func search(ctx context.Context, n *Net, o Options, accelerate bool) *Graph {
	o = o.withDefaults()
	g := &Graph{Net: n, number: map[string]int32{}}
	g.internMarking(slices.Clone(n.Initial), Edge{-1, -1})
	for i := 0; i < len(g.keys); i++ {
		m := g.Marking(i)
		if i%256 == 0 && ctx.Err() != nil {
			g.Reason = "interrupted: " + context.Cause(ctx).Error()
			return g
		}
		if slices.ContainsFunc(m, func(tokens int64) bool { return tokens != Omega && tokens > o.Tokens }) {
			g.Reason = fmt.Sprintf("markings with more than %d tokens in a place were not expanded", o.Tokens)
			continue
		}
		for t := range n.Transitions {
			if !n.Transitions[t].Enabled(m) {
				continue
			}
			next := n.Transitions[t].Fire(m)
			if accelerate {
				g.accelerate(i, t, next)
			}
			g.edges[i] = append(g.edges[i], Edge{t, g.internMarking(next, Edge{t, i})})
		}
		g.bytes += int64(len(g.edges[i])) * 16
		switch {
		case len(g.keys) > o.Markings:
			g.Reason = fmt.Sprintf("there are more than %d markings", o.Markings)
			return g
		case g.bytes > o.Memory:
			g.Reason = fmt.Sprintf("more than %d MiB of memory would be needed", o.Memory>>20)
			return g
		}
	}
	return g
}

// internMarking returns the number of a marking, and adds it if it is new, with the edge by which
// it was reached first.
func (g *Graph) internMarking(m Marking, from Edge) int {
	key := make([]byte, 0, len(m))
	for _, tokens := range m {
		key = binary.AppendUvarint(key, uint64(tokens))
	}
	if id, ok := g.number[string(key)]; ok {
		return int(id)
	}
	id := len(g.keys)
	g.keys = append(g.keys, string(key))
	g.number[g.keys[id]] = int32(id)
	g.sums = append(g.sums, total(m))
	g.edges = append(g.edges, nil)
	g.from = append(g.from, from)
	g.bytes += int64(len(key)) + 120 // about: the entries of a marking in the slices and the map
	return id
}

// accelerate sets Omega in the places of m that have more tokens than in a marking on the
// path to m that m covers. m is reached from marking i by transition t.
func (g *Graph) accelerate(i, t int, m Marking) {
	hadOmega := slices.Contains(g.Marking(i), Omega) // then a pump on the way to i is known
	sum := total(m)
	for at, loop := i, []int{t}; at >= 0; at = g.from[at].To {
		if g.sums[at] < sum || sum == Omega { // else m cannot cover it with more tokens
			if grown := growth(g.Marking(at), m); len(grown) > 0 {
				if !hadOmega {
					g.pumps = append(g.pumps, pump{at, reversed(loop), grown})
					hadOmega = true
				}
				for _, p := range grown {
					m[p] = Omega
				}
				sum = Omega
			}
		}
		loop = append(loop, g.from[at].Transition)
	}
}

// total returns the number of tokens, or Omega if a place has Omega.
func total(m Marking) int64 {
	sum := int64(0)
	for _, tokens := range m {
		if tokens == Omega {
			return Omega
		}
		sum += tokens
	}
	return sum
}

// growth lists the places where m has more tokens than before, or returns nil if m does
// not cover before.
func growth(before, m Marking) []int {
	if !m.Covers(before) {
		return nil
	}
	var places []int
	for p, tokens := range m {
		if tokens > before[p] {
			places = append(places, p)
		}
	}
	return places
}

// reversed returns a reversed copy.
func reversed(s []int) []int {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// Len returns the number of markings.
func (g *Graph) Len() int { return len(g.keys) }

// Edges returns the firings from a marking, sorted by transition. The slice must not be
// changed.
func (g *Graph) Edges(i int) []Edge { return g.edges[i] }

// Marking returns a copy of marking i. Its key has the tokens of each place, the largest number
// for Omega.
func (g *Graph) Marking(i int) Marking {
	m, key := make(Marking, len(g.Net.Places)), []byte(g.keys[i])
	for p := range m {
		tokens, size := binary.Uvarint(key)
		m[p], key = int64(min(tokens, math.MaxInt64)), key[size:]
	}
	return m
}

// Path returns a shortest firing sequence from the initial marking to marking i. In a
// graph with Omega it need not be a firing sequence of the net.
func (g *Graph) Path(i int) []int {
	var path []int
	for ; g.from[i].To >= 0; i = g.from[i].To {
		path = append(path, g.from[i].Transition)
	}
	return reversed(path)
}

// Firings returns the number of edges.
func (g *Graph) Firings() int {
	n := 0
	for _, es := range g.edges {
		n += len(es)
	}
	return n
}

// Covering returns the first marking that covers m, or -1.
func (g *Graph) Covering(m Marking) int {
	for i := range g.keys {
		if g.Marking(i).Covers(m) {
			return i
		}
	}
	return -1
}
