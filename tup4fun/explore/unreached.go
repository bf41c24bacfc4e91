package explore

import (
	"slices"

	"leasehold/tup4fun/syntax"
)

// Unreached is a statement, or a guard, that no run executes.
type Unreached struct {
	Process string     `json:"process"` // without the number of a copy
	Pos     syntax.Pos `json:"position"`
	Text    string     `json:"text"`
}

// unreached lists the statements that no run executes, in the order of the file. Of processes with the
// same program it has those of the first. It returns nil if not all states are known.
func (s *search) unreached() []Unreached {
	if s.over.Load() {
		return nil
	}
	all := []Unreached{}
	for _, c := range s.model.Codes {
		for _, n := range c.Nodes {
			for _, e := range n.All() {
				isEndOfDo := e.Kind == Else && e.Text == "od"
				isTaken := slices.ContainsFunc(s.workers, func(w *worker) bool { return w.expander.step.taken[e.index] })
				if !isTaken && !isEndOfDo {
					all = append(all, Unreached{c.Proc.Title, e.Pos, e.Text})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Unreached) int { return a.Pos.Compare(b.Pos) })
	return all
}
