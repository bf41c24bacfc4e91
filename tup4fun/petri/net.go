package petri

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"leasehold/tup4fun/syntax"
)

// Bounds of what is read.
const (
	MaxSource = 4 << 20 // bytes of one file
	MaxNodes  = 10_000  // places and transitions together
	MaxWeight = 1e9     // of an arc, and tokens of a place at the start
	MaxErrors = 20      // after so many it gives up
)

// Net is a place/transition net. Places and transitions are known by their index.
type Net struct {
	Name        string
	Places      []string
	Transitions []Transition
	Initial     Marking
	Final       []Marking // where a run may end; none: it is not said
}

// Transition takes tokens and puts tokens.
type Transition struct {
	Name    string
	Label   string // empty: it has none
	In, Out []Arc  // by place, each once
}

// Arc says how many tokens of a place.
type Arc struct {
	Place  int
	Weight int64
}

// Marking is the number of tokens in each place.
type Marking []int64

// Omega is the number of tokens in a place that can have any number of them.
const Omega = math.MaxInt64

// Errors is what is wrong with a net, in the order of the file.
type Errors = syntax.Errors

// Enabled reports whether a transition can fire in m.
func (t *Transition) Enabled(m Marking) bool {
	return !slices.ContainsFunc(t.In, func(a Arc) bool { return m[a.Place] < a.Weight })
}

// Fire returns what an enabled transition makes of m, which it leaves as it is.
func (t *Transition) Fire(m Marking) Marking {
	m = slices.Clone(m)
	for _, a := range t.In {
		m.add(a.Place, -a.Weight)
	}
	for _, a := range t.Out {
		m.add(a.Place, a.Weight)
	}
	return m
}

func (m Marking) add(place int, tokens int64) {
	if m[place] != Omega {
		m[place] += tokens
	}
}

// Covers reports whether m has at least the tokens of other in each place.
func (m Marking) Covers(other Marking) bool {
	for p, n := range other {
		if m[p] < n {
			return false
		}
	}
	return true
}

// Text is m in the notation of .apt, such as {p0, 2*p8}. Omega is written ω.
func (n *Net) Text(m Marking) string {
	var parts []string
	for p, tokens := range m {
		switch tokens {
		case 0:
		case 1:
			parts = append(parts, n.Places[p])
		case Omega:
			parts = append(parts, "ω*"+n.Places[p])
		default:
			parts = append(parts, strconv.FormatInt(tokens, 10)+"*"+n.Places[p])
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// CanMove reports whether a transition can fire in m.
func (n *Net) CanMove(m Marking) bool {
	return slices.ContainsFunc(n.Transitions, func(t Transition) bool { return t.Enabled(m) })
}

// IsFinal reports whether m is one of the final markings.
func (n *Net) IsFinal(m Marking) bool {
	return slices.ContainsFunc(n.Final, func(f Marking) bool { return slices.Equal(f, m) })
}

// names lists transitions by name.
func (n *Net) names(transitions []int) []string {
	all := make([]string, len(transitions))
	for i, t := range transitions {
		all[i] = n.Transitions[t].Name
	}
	return all
}
