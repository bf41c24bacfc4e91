package petri

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Bounds of what is read.
const (
	MaxSource = 4 << 20 // bytes of a file
	MaxNodes  = 5000    // places, and transitions
	MaxWeight = 1 << 30 // of an arc, and tokens at the start
)

// Net is a place/transition net.
type Net struct {
	Name        string
	Places      []string
	Transitions []Transition
	Start       Marking
}

// Transition takes tokens from places and puts tokens to places.
type Transition struct {
	Name string
	Take map[int]int64 // by place: how many
	Give map[int]int64
}

// Marking is how many tokens each place has.
type Marking []int64

// Omega stands for arbitrarily many tokens in a marking of the coverability graph.
const Omega = math.MaxInt64

// Fire returns the marking after t, or reports that t is not enabled. More than
// 2^62 tokens in a place count as Omega.
func (m Marking) Fire(t *Transition) (Marking, bool) {
	for p, n := range t.Take {
		if m[p] < n {
			return nil, false
		}
	}
	after := slices.Clone(m)
	for p, n := range t.Take {
		if after[p] != Omega {
			after[p] -= n
		}
	}
	for p, n := range t.Give {
		if after[p] > 1<<62 {
			after[p] = Omega
		} else {
			after[p] += n
		}
	}
	return after, true
}

// Text prints a marking: the places that have tokens, as p0 2*p1, with w*p2 for
// arbitrarily many.
func (n *Net) Text(m Marking) string {
	var parts []string
	for p, k := range m {
		switch {
		case k == Omega:
			parts = append(parts, "w*"+n.Places[p])
		case k == 1:
			parts = append(parts, n.Places[p])
		case k > 0:
			parts = append(parts, fmt.Sprintf("%d*%s", k, n.Places[p]))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, " ")
}

// key is a marking as the key of a map.
func (m Marking) key() string {
	b := make([]byte, 0, 2*len(m))
	for _, k := range m {
		for ; k >= 0x80; k >>= 7 {
			b = append(b, byte(k)|0x80)
		}
		b = append(b, byte(k))
	}
	return string(b)
}
