package petri

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Options bounds an exploration. The zero value is the default.
type Options struct {
	Markings  int   // 0: 200,000
	Memory    int64 // bytes that markings and edges may take; 0: 1 GiB
	Tokens    int64 // markings with more in a place are not gone into; 0: no bound
	Semiflows int   // of each sort, and rows on the way; 0: 500
}

func (o Options) normal() Options {
	if o.Markings <= 0 {
		o.Markings = 200_000
	}
	if o.Memory <= 0 {
		o.Memory = 1 << 30
	}
	if o.Tokens <= 0 {
		o.Tokens = Omega - 1
	}
	if o.Semiflows <= 0 {
		o.Semiflows = 500
	}
	return o
}

// Graph is a graph of markings by number, 0 the initial one, in the order in which
// breadth-first search meets them.
type Graph struct {
	Net    *Net
	Reason string // why the graph is not complete; empty: it is
	keys   []string
	sums   []int64 // tokens outside of omegas; of one with an omega, Omega
	number map[string]int32
	edges  [][]Edge
	from   []Edge // how each marking was first met: Edge.To is where from
	pumps  []pump // how places grow without bound
	bytes  int64
}

// Edge is a firing and the marking that it leads to.
type Edge struct{ Transition, To int }

// A pump is a firing sequence that can be repeated, and makes places grow.
type pump struct {
	at     int // the marking before it
	loop   []int
	places []int
}

// Reach explores the reachable markings.
func Reach(ctx context.Context, n *Net, o Options) *Graph { return search(ctx, n, o, false) }

// Cover makes the graph of Karp and Miller: a marking with Omega stands for
// reachable ones with as many tokens there as one likes. Options.Tokens is not
// looked at.
func Cover(ctx context.Context, n *Net, o Options) *Graph {
	o.Tokens = 0
	return search(ctx, n, o, true)
}

func search(ctx context.Context, n *Net, o Options, accelerate bool) *Graph {
	o = o.normal()
	g := &Graph{Net: n, number: map[string]int32{}}
	g.add(slices.Clone(n.Initial), Edge{-1, -1})
	for i := 0; i < len(g.keys); i++ {
		m := g.Marking(i)
		if i%256 == 0 && ctx.Err() != nil {
			g.Reason = "it was interrupted: " + context.Cause(ctx).Error()
			return g
		}
		if slices.ContainsFunc(m, func(tokens int64) bool { return tokens != Omega && tokens > o.Tokens }) {
			g.Reason = fmt.Sprintf("markings with more than %d tokens in a place were not gone into", o.Tokens)
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
			g.edges[i] = append(g.edges[i], Edge{t, g.add(next, Edge{t, i})})
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

// add returns the number of a marking, which may be new.
func (g *Graph) add(m Marking, from Edge) int {
	key := make([]byte, 0, len(m))
	sum := int64(0)
	for _, tokens := range m {
		if tokens == Omega {
			sum = Omega
		} else if sum != Omega {
			sum += tokens
		}
		key = binary.AppendUvarint(key, uint64(tokens))
	}
	if id, ok := g.number[string(key)]; ok {
		return int(id)
	}
	id := len(g.keys)
	g.keys = append(g.keys, string(key))
	g.number[g.keys[id]] = int32(id)
	g.sums = append(g.sums, sum)
	g.edges = append(g.edges, nil)
	g.from = append(g.from, from)
	g.bytes += int64(len(key)) + 120
	return id
}

// accelerate puts Omega where m, met from marking i by transition t, has more than
// a marking on the way to it that it covers.
func (g *Graph) accelerate(i, t int, m Marking) {
	had := slices.Contains(g.Marking(i), Omega)
	sum := total(m)
	for at, loop := i, []int{t}; at >= 0; at = g.from[at].To {
		if g.sums[at] < sum || sum == Omega {
			if grown := growth(g.Marking(at), m); len(grown) > 0 {
				if !had {
					g.pumps = append(g.pumps, pump{at, reversed(loop), grown})
					had = true
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

// growth lists the places where m, if it covers before, has more.
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

func reversed(s []int) []int {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

// Len returns how many markings there are.
func (g *Graph) Len() int { return len(g.keys) }

// Edges returns the firings from a marking, by transition. They are not to be
// changed.
func (g *Graph) Edges(i int) []Edge { return g.edges[i] }

// Marking returns the i-th marking, a copy.
func (g *Graph) Marking(i int) Marking {
	m, key := make(Marking, len(g.Net.Places)), []byte(g.keys[i])
	for p := range m {
		tokens, size := binary.Uvarint(key)
		m[p], key = int64(min(tokens, math.MaxInt64)), key[size:]
	}
	return m
}

// Way returns a shortest firing sequence from the start to a marking. In a graph
// with Omega it need not be one of the net.
func (g *Graph) Way(i int) []int {
	var way []int
	for ; g.from[i].To >= 0; i = g.from[i].To {
		way = append(way, g.from[i].Transition)
	}
	return reversed(way)
}

// Firings is how many edges there are.
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
