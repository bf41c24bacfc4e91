package petri

import (
	"context"
	"strings"
	"time"

	"leasehold/tup4fun/explore"
)

// The properties that Check knows.
const (
	Bounded      = "bounded"      // no place grows without bound
	Safe         = "safe"         // no place ever has more than one token
	DeadlockFree = "deadlockfree" // in each marking a transition can fire
	QuasiLive    = "quasilive"    // each transition can fire at least once
	Live         = "live"         // each can fire again, whatever was fired
	Reversible   = "reversible"   // from everywhere it can come back to the start
	Completes    = "completes"    // from everywhere it can come to a final marking
	Proper       = "proper"       // no marking has more tokens than a final one
)

// Properties are those that do not need a final marking; Completes and Proper do.
var Properties = []string{Bounded, Safe, DeadlockFree, QuasiLive, Live, Reversible}

// Usual are the properties that are asked for where none are named.
var Usual = []string{Bounded, DeadlockFree, QuasiLive, Live, Reversible}

// Report is what is known of a net.
type Report struct {
	File                string          `json:"file"`
	Name                string          `json:"name"`
	Outcome             explore.Outcome `json:"outcome"`
	Places              int             `json:"places"`
	Transitions         int             `json:"transitions"`
	Markings            int             `json:"markings"`
	Edges               int             `json:"edges"`
	Reason              string          `json:"reason,omitempty"` // why not all markings were looked at
	Findings            []Finding       `json:"findings"`
	Bounds              []PlaceBound    `json:"bounds"`
	PlaceSemiflows      []Flow          `json:"place_semiflows"`
	TransitionSemiflows []Flow          `json:"transition_semiflows"`
	SemiflowsReason     string          `json:"semiflows_reason,omitempty"` // why they are missing
	Elapsed             float64         `json:"seconds"`
}

// Finding is what is known of one property.
type Finding struct {
	Property string          `json:"property"`
	Outcome  explore.Outcome `json:"outcome"`
	Detail   string          `json:"detail,omitempty"`
	Marking  string          `json:"marking,omitempty"` // that shows it
	Firing   []string        `json:"firing,omitempty"`  // a shortest sequence to that marking
	Repeat   []string        `json:"repeat,omitempty"`  // and then this, again and again
}

// PlaceBound is how many tokens a place has at most.
type PlaceBound struct {
	Place string `json:"place"`
	Most  int64  `json:"most"`  // -1: there is no bound
	Known bool   `json:"known"` // false: it may be more, as the search is incomplete
}

// Flow is one semiflow.
type Flow struct {
	Text   string `json:"text"`             // p0 + 2*p2
	Tokens *int64 `json:"tokens,omitempty"` // what the sum always is, of places
}

// Question is what Check is asked.
type Question struct {
	Properties []string  // empty: Usual, and what needs a final marking if there is one
	Cover      []Marking // must not be coverable
	Options    Options
}

// Check answers a question about a net that was read from file. It never errs: a
// bound that is reached, or ctx's end, makes findings incomplete.
func Check(ctx context.Context, file string, n *Net, q Question) *Report {
	began := time.Now()
	c := checker{net: n, cover: Cover(ctx, n, q.Options)}
	c.reach = c.cover
	c.bounded = c.cover.Reason == "" && len(c.cover.unbounded()) == 0
	if !c.bounded {
		c.reach = Reach(ctx, n, q.Options)
	}
	r := &Report{File: file, Name: n.Name, Places: len(n.Places), Transitions: len(n.Transitions),
		Markings: c.reach.Len(), Edges: c.reach.Firings(), Reason: c.reach.Reason, Findings: []Finding{}, Bounds: c.bounds()}
	for _, property := range q.properties(n) {
		r.Findings = append(r.Findings, c.find(property))
	}
	for _, m := range q.Cover {
		r.Findings = append(r.Findings, c.uncoverable(m))
	}
	r.Outcome = overall(r.Findings)
	r.semiflows(ctx, n, q.Options)
	r.Elapsed = time.Since(began).Seconds()
	return r
}

func (q Question) properties(n *Net) []string {
	if len(q.Properties) > 0 {
		return q.Properties
	}
	if len(n.Final) > 0 {
		return append(append([]string{}, Usual...), Completes, Proper)
	}
	return Usual
}

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

func (r *Report) semiflows(ctx context.Context, n *Net, o Options) {
	places, err := PlaceSemiflows(ctx, n, o)
	transitions, err2 := TransitionSemiflows(ctx, n, o)
	for _, e := range []error{err2, err} {
		if e != nil {
			r.SemiflowsReason = e.Error()
		}
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

// sumText is a weighted sum, such as p0 + 2*p2.
func sumText(weights []int64, names []string) string {
	text := (&Net{Places: names}).Text(weights)
	return strings.ReplaceAll(strings.Trim(text, "{}"), ", ", " + ")
}
