package petri

import (
	"cmp"
	"context"
	"strings"
	"time"

	"leasehold/tup4fun/explore"
)

// The properties that Check decides.
const (
	Bounded      = "bounded"      // no place grows without bound
	Safe         = "safe"         // no place can have more than one token
	DeadlockFree = "deadlockfree" // every marking enables a transition
	QuasiLive    = "quasilive"    // each transition can fire at least once
	Live         = "live"         // from every marking each transition can fire again
	Reversible   = "reversible"   // the initial marking can be reached from every marking
	Completes    = "completes"    // a final marking can be reached from every marking
	Proper       = "proper"       // no marking has more tokens than a final one
)

// Properties are the properties that need no final marking. Completes and Proper need
// one.
var Properties = []string{Bounded, Safe, DeadlockFree, QuasiLive, Live, Reversible}

// Usual are the properties that are checked by default.
var Usual = []string{Bounded, DeadlockFree, QuasiLive, Live, Reversible}

// Report is the result of checking a net.
type Report struct {
	File                string          `json:"file"`
	Name                string          `json:"name"`
	Outcome             explore.Outcome `json:"outcome"`
	Places              int             `json:"places"`
	Transitions         int             `json:"transitions"`
	Markings            int             `json:"markings"`
	Edges               int             `json:"edges"`
	Reason              string          `json:"reason,omitempty"` // why not all markings were explored
	Findings            []Finding       `json:"findings"`
	Bounds              []PlaceBound    `json:"bounds"`
	PlaceSemiflows      []Flow          `json:"place_semiflows"`
	TransitionSemiflows []Flow          `json:"transition_semiflows"`
	SemiflowsReason     string          `json:"semiflows_reason,omitempty"` // why the semiflows are missing
	OffTheWay           []string        `json:"off_the_way,omitempty"`      // on no way from the one source to the one sink
	Elapsed             float64         `json:"seconds"`
}

// Finding is the result for one property.
type Finding struct {
	Property string          `json:"property"`
	Outcome  explore.Outcome `json:"outcome"`
	Detail   string          `json:"detail,omitempty"`
	Marking  string          `json:"marking,omitempty"` // that shows it
	Firing   []string        `json:"firing,omitempty"`  // a shortest firing sequence to Marking
	Repeat   []string        `json:"repeat,omitempty"`  // a sequence that can be repeated after Firing
}

// PlaceBound is the greatest number of tokens in a place.
type PlaceBound struct {
	Place string `json:"place"`
	Most  int64  `json:"most"`  // -1: unbounded
	Known bool   `json:"known"` // false: the search was incomplete, so the place may have more
}

// Flow is one semiflow.
type Flow struct {
	Text   string `json:"text"`             // such as p0 + 2*p2
	Tokens *int64 `json:"tokens,omitempty"` // the constant weighted sum of tokens; place semiflows only
}

// Question selects what Check decides.
type Question struct {
	Properties []string  // empty: Usual, with Completes and Proper if there is a final marking
	Cover      []Marking // markings that must not be coverable
	Options    Options
}

// Check answers a question about a net. file is the file name in the report. If a bound is
// reached or ctx ends, findings are incomplete. Of a bounded net the graph with Omega is the
// graph of markings, so it is made once; of another one the markings are searched as far as the
// bounds permit.
func Check(ctx context.Context, file string, n *Net, q Question) *Report {
	began := time.Now()
	c := checker{net: n, cover: Cover(ctx, n, q.Options)}
	c.reach = c.cover
	c.bounded = c.cover.Reason == "" && len(c.cover.unbounded()) == 0
	if !c.bounded {
		c.reach = Reach(ctx, n, q.Options)
	}
	r := &Report{File: file, Name: n.Name, Places: len(n.Places), Transitions: len(n.Transitions),
		Markings: c.reach.Len(), Edges: c.reach.Firings(), Reason: c.reach.Reason, Findings: []Finding{}, Bounds: c.bounds(), OffTheWay: n.offTheWay()}
	for _, property := range q.properties(n) {
		r.Findings = append(r.Findings, c.decide(property))
	}
	for _, m := range q.Cover {
		r.Findings = append(r.Findings, c.uncoverable(m))
	}
	r.Outcome = overall(r.Findings)
	r.addSemiflows(ctx, n, q.Options)
	r.Elapsed = time.Since(began).Seconds()
	return r
}

// properties returns the properties to decide: those asked for, or the usual ones, to which a net
// with final markings adds two.
func (q Question) properties(n *Net) []string {
	if len(q.Properties) > 0 {
		return q.Properties
	}
	if len(n.Final) > 0 {
		return append(append([]string{}, Usual...), Completes, Proper)
	}
	return Usual
}

// overall returns Violated if any finding is violated, otherwise Incomplete if any is
// incomplete.
func overall(fs []Finding) explore.Outcome {
	all := explore.Holds
	for _, f := range fs {
		switch f.Outcome {
		case explore.Violated:
			return explore.Violated
		case explore.Incomplete:
			all = explore.Incomplete
		}
	}
	return all
}

// addSemiflows puts the semiflows of places and transitions into the report. If one of the two
// searches was given up, its list is empty and SemiflowsReason has why.
func (r *Report) addSemiflows(ctx context.Context, n *Net, o Options) {
	places, placesErr := PlaceSemiflows(ctx, n, o)
	transitions, transitionsErr := TransitionSemiflows(ctx, n, o)
	if err := cmp.Or(placesErr, transitionsErr); err != nil {
		r.SemiflowsReason = err.Error()
	}
	r.PlaceSemiflows, r.TransitionSemiflows = []Flow{}, []Flow{}
	for _, s := range places {
		tokens := int64(0)
		for p, w := range s {
			tokens += w * n.Initial[p]
		}
		r.PlaceSemiflows = append(r.PlaceSemiflows, Flow{sumText(s, n.Places), &tokens})
	}
	var names []string
	for _, t := range n.Transitions {
		names = append(names, t.Name)
	}
	for _, s := range transitions {
		r.TransitionSemiflows = append(r.TransitionSemiflows, Flow{Text: sumText(s, names)})
	}
}

// sumText prints a weighted sum such as p0 + 2*p2.
func sumText(weights []int64, names []string) string {
	text := (&Net{Places: names}).Text(weights)
	return strings.ReplaceAll(strings.Trim(text, "{}"), ", ", " + ")
}
