package bench

import (
	"math"
	"slices"

	"leasehold/shared/clips/bench/set"
)

// Tally counts the insertions and findings of one group.
type Tally struct {
	Played int
	Hits   int
	Wrong  int // findings
	Aside  int // findings that are neither right nor wrong
	errors []float64
}

// add counts one insertion or finding. Wrong findings, and those aside, do not count as played.
func (t *Tally) add(v judged) {
	switch {
	case v.wrong:
		t.Wrong++
		return
	case v.aside:
		t.Aside++
		return
	case v.hit:
		t.Hits++
		t.errors = append(t.errors, v.errorS)
	}
	t.Played++
}

// Precision returns the share of right findings; 1 if there are no findings.
func (t Tally) Precision() float64 { return share(t.Hits, t.Hits+t.Wrong) }

// Recall returns the share of the insertions that are found; 1 if there are no insertions.
func (t Tally) Recall() float64 { return share(t.Hits, t.Played) }

// F1 returns the harmonic mean of precision and recall.
func (t Tally) F1() float64 { return share(2*t.Hits, t.Played+t.Hits+t.Wrong) }

// RecallRange returns the 95 % confidence interval of the recall. It is Wilson's, because that
// also holds for few insertions and for shares near 1. Without insertions it is 0 to 1.
func (t Tally) RecallRange() (low, high float64) {
	if t.Played == 0 {
		return 0, 1
	}
	const z = 1.96
	n, p := float64(t.Played), t.Recall()
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}

// share returns part as a share of whole; 1 if whole is 0.
func share(part, whole int) float64 {
	if whole == 0 {
		return 1
	}
	return float64(part) / float64(whole)
}

// ErrorMs returns a quantile of the hits' offset errors, in milliseconds; 0 without hits.
func (t Tally) ErrorMs(q float64) float64 {
	if len(t.errors) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t.errors))
	return 1000 * sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// Group is one line of a table.
type Group struct {
	By   string // "all", "condition", "length" or "kind"
	Name string
	Tally
}

// All is the name of the group of all insertions. Most names the group of those that play at least
// 60 % and 0.5 s of a clip, at most 6 dB under another sound. The overall target counts only these.
const (
	All  = "all"
	Most = "most of a clip"
)

// tally counts insertions and findings for the lines of all tables: all, most of a clip, each
// condition, length and kind, in this order, with those that have none.
func tally(all []judged) []Group {
	groups := []Group{{By: "all", Name: All}, {By: "all", Name: Most}}
	for _, name := range set.Conditions() {
		groups = append(groups, Group{By: "condition", Name: name})
	}
	for _, name := range lengths {
		groups = append(groups, Group{By: "length", Name: name})
	}
	for _, kind := range []set.Kind{set.Speech, set.Music, set.Effect} {
		groups = append(groups, Group{By: "kind", Name: string(kind)})
	}
	for i := range groups {
		for _, v := range all {
			if groups[i].holds(v) {
				groups[i].add(v)
			}
		}
	}
	return groups
}

// holds reports whether an insertion or finding counts for the group, by its condition, the
// length of its clip or its kind. Of the groups "all", Most leaves out the conditions that play
// little of a clip.
func (g Group) holds(v judged) bool {
	switch g.By {
	case "condition":
		return v.condition == g.Name
	case "length":
		return lengthOf(v.clip) == g.Name
	case "kind":
		return string(v.clip.Kind) == g.Name
	}
	return g.Name == All || !set.Apart(v.condition)
}

var lengths = []string{"under 0.5 s", "0.5 to 1 s", "1 to 5 s", "5 to 15 s", "2 min"}

// lengthOf returns the name in lengths of the group of a clip's length.
func lengthOf(c set.Clip) string {
	for i, below := range []float64{.5, 1, 5, 15.1} {
		if c.DurationS < below {
			return lengths[i]
		}
	}
	return lengths[4]
}
