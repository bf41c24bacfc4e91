package code

import (
	"context"
	"time"

	"leasehold/shared/api/types"
	"leasehold/shared/code"
)

// FacetMatches is how many matches of a search are counted for its facets, at most.
const FacetMatches = 10_000

// A Part is some of the matches of a search, in its order.
type Part struct {
	Offset  int // matches before the first
	Limit   int // matches from there; 0: all
	Context int // lines before and after each match
	Facets  bool
	Timeout time.Duration // 0: code.DefaultTimeout
}

// SearchPart calls visit for a part of the matches of a query until visit returns false. The parts of an unchanged
// index do not overlap, unless RankedOf tells that its time did not suffice to rank all. With Facets, it also
// counts up to FacetMatches matches, those of other parts included.
func (x *Index) SearchPart(ctx context.Context, q code.Query, p Part, visit func(types.CodeMatch) bool) (types.SearchEnd, error) {
	counts := facetCounts{}
	files := map[string]bool{}
	seen, sent, ended := 0, 0, false
	stats, err := x.Search(ctx, q, p.options(), func(m code.Match) bool {
		seen++
		if p.Facets && seen <= FacetMatches {
			counts.add(m)
		}
		if seen <= p.Offset || p.Limit > 0 && sent == p.Limit {
			return true
		}
		sent++
		if !p.isWhole() {
			files[m.RepoID+"\x00"+m.Path+"\x00"+string(m.OID)] = true
		}
		ended = !visit(MatchOf(m))
		return !ended
	})
	end := EndOf(stats)
	if !p.isWhole() {
		end.Matches, end.Files = sent, len(files)
	}
	if end.Stopped == "" && p.Limit > 0 && seen > p.Offset+p.Limit { // the others were counted
		end.Stopped = code.StoppedLimit
	}
	if p.Facets && !ended {
		end.Facets = counts.facets(min(seen, FacetMatches))
		end.Facets.All = stats.Stopped == "" && seen <= FacetMatches
	}
	return end, err
}

// isWhole reports whether the search visits the part and nothing else.
func (p Part) isWhole() bool { return p.Offset == 0 && !p.Facets }

// options returns the options of a search that reads the part, and the matches that facets count.
func (p Part) options() code.Options {
	o := code.Options{Limit: p.Limit, Context: p.Context, Timeout: p.Timeout}
	if p.Limit > 0 {
		o.Limit = p.Offset + p.Limit
		if p.Facets {
			o.Limit = max(o.Limit, FacetMatches)
		}
	}
	return o
}
