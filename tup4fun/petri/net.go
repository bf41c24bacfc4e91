package petri

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"leasehold/tup4fun/syntax"
)

// Limits of the parsers.
const (
	MaxSource = 4 << 20 // bytes of one file
	MaxNodes  = 10_000  // places and transitions together
	maxWeight = 1e9     // of an arc, and initial tokens of a place
	MaxErrors = syntax.MaxErrors
)

// Net is a place/transition net. Places and transitions are identified by index.
type Net struct {
	Name        string
	Places      []string
	Transitions []Transition
	Initial     Marking
	Final       []Marking // markings in which a run may end; nil if the file has none
}

// Transition is one transition with its arcs.
type Transition struct {
	Name    string
	Label   string // may be empty
	In, Out []Arc  // sorted by place, at most one per place
}

// Arc is the number of tokens that a transition takes from or puts into a place.
type Arc struct {
	Place  int
	Weight int64
}

// Marking is the number of tokens in each place.
type Marking []int64

// Omega stands for arbitrarily many tokens.
const Omega = math.MaxInt64

// Errors are the errors in a net, in the order of the file.
type Errors = syntax.Errors

// Enabled reports whether a transition can fire in m.
func (t *Transition) Enabled(m Marking) bool {
	return !slices.ContainsFunc(t.In, func(a Arc) bool { return m[a.Place] < a.Weight })
}

// Fire returns the marking after an enabled transition. It does not change m. Omega stays Omega.
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

// add adds tokens to a place, less than 0 to take them; Omega stays.
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

// Text returns m in the notation of .apt, such as {p0, 2*p8}. Omega is printed as ω.
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

// CanMove reports whether some transition can fire in m.
func (n *Net) CanMove(m Marking) bool {
	return slices.ContainsFunc(n.Transitions, func(t Transition) bool { return t.Enabled(m) })
}

// IsFinal reports whether m is one of the final markings.
func (n *Net) IsFinal(m Marking) bool {
	return slices.ContainsFunc(n.Final, func(f Marking) bool { return slices.Equal(f, m) })
}

// names lists the names of transitions.
func (n *Net) names(transitions []int) []string {
	all := make([]string, len(transitions))
	for i, t := range transitions {
		all[i] = n.Transitions[t].Name
	}
	return all
}
