package embedded

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"leasehold/shared/codesearch"
	"leasehold/shared/codesearch/match"
)

// A search is one call of Search. It is used by one goroutine.
type search struct {
	ctx     context.Context
	plan    *plan
	view    *view
	options codesearch.Options
	stats   codesearch.Stats
	parts   []*partSearch // nil until it is needed
	repo    [][]codesearch.Truth
	*searchMemory
	results
}

// searchMemory is what searches use one after the other.
type searchMemory struct {
	scratch  match.Scratch
	chunk    []byte // of a compressed segment
	blobText []byte // the same
	values   []codesearch.Truth
	hits     [][]hit // by leaf, of the current blob
}

// errStop ends a search early; stats.Stopped tells why.
var errStop = errors.New("search stopped")

// errTimeout is the cause of a search's own time limit.
var errTimeout = errors.New("time limit")

// Search finds matches; see codesearch.Searcher.
func (x *Index) Search(ctx context.Context, q codesearch.Query, o codesearch.Options, visit func(codesearch.Match) bool) (codesearch.Stats, error) {
	began := x.now()
	p, err := newPlan(q)
	if err != nil {
		return codesearch.Stats{}, err
	}
	v, err := x.acquire()
	if err != nil {
		return codesearch.Stats{}, err
	}
	defer x.release(v)
	limited, cancel := context.WithTimeoutCause(ctx, cmp.Or(o.Timeout, codesearch.DefaultTimeout), errTimeout)
	defer cancel()
	memory, ok := x.searches.Get().(*searchMemory)
	if !ok {
		memory = &searchMemory{}
	}
	defer x.searches.Put(memory)
	o.MaxBytes = cmp.Or(o.MaxBytes, codesearch.DefaultMaxBytes)
	s := &search{ctx: limited, plan: p, view: v, options: o, parts: make([]*partSearch, len(v.parts)), searchMemory: memory,
		stats: codesearch.Stats{Skipped: map[string]int{}}}
	s.results = results{search: s, visit: visit}
	s.selectRepos()
	err = s.run()
	if err == nil || errors.Is(err, errStop) {
		err = s.finish()
	}
	if ctx.Err() != nil {
		return s.stats, context.Cause(ctx)
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	s.stats.Elapsed = x.now().Sub(began)
	return s.stats, err
}

// run finds all blobs that match: those that define a symbol which is named as a word of the
// query first, then all in the order of the segments.
func (s *search) run() error {
	first, err := s.definitions()
	if err != nil {
		return err
	}
	for n, p := range s.view.parts {
		ps := s.part(n)
		for blob := range ps.candidates.each(p.Blobs()) {
			if first[blobKey{n, blob}] {
				continue
			}
			if err := s.blob(ps, blob); err != nil {
				return err
			}
		}
		if err := s.countSkipped(p); err != nil {
			return err
		}
	}
	return nil
}

type blobKey struct{ part, blob int }

// maxDefinitions is how many blobs are searched before the others because of the names of
// their symbols.
const maxDefinitions = 256

// definitions searches the blobs that define a symbol with the name of a word, and returns them.
func (s *search) definitions() (map[blobKey]bool, error) {
	done := map[blobKey]bool{}
	for _, name := range s.plan.definitions(&s.plan.root, nil) {
		if strings.Contains(name, "\n") {
			continue
		}
		for n, p := range s.view.parts {
			var blobs []uint32
			p.DefiningExactly(name, func(of []uint32) { blobs = of })
			for _, b := range blobs {
				k := blobKey{n, int(b)}
				if done[k] || len(done) == maxDefinitions {
					continue
				}
				done[k] = true
				ps := s.part(n)
				if ps.candidates.has(k.blob, k.blob+1) {
					if err := s.blob(ps, k.blob); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return done, nil
}

// selectRepos evaluates the filters on repositories, and counts those that are searched.
func (s *search) selectRepos() {
	s.repo = make([][]codesearch.Truth, len(s.plan.leaves))
	for n, l := range s.plan.leaves {
		if l.kind != kindRepo {
			continue
		}
		s.repo[n] = make([]codesearch.Truth, len(s.view.repos))
		for slot, g := range s.view.repos {
			if g != nil {
				s.repo[n][slot] = codesearch.TruthOf(l.filter(g.repo))
			}
		}
	}
	for slot, g := range s.view.repos {
		if g == nil {
			continue
		}
		truth := s.plan.root.evaluate(func(n int) codesearch.Truth {
			if s.plan.leaves[n].kind == kindRepo {
				return s.repo[n][slot]
			}
			return codesearch.Unknown
		})
		if truth != codesearch.False {
			s.stats.Repos++
			if lost := s.view.lost[g.repoID]; lost > 0 {
				s.stats.Skipped[codesearch.SkipLost] += lost
			}
		}
	}
}

// countSkipped counts the files that the query's filters do not exclude and that are not
// indexed.
func (s *search) countSkipped(p *part) error {
	for _, blob := range p.skipped {
		if s.ctx.Err() != nil {
			return s.stop(codesearch.StoppedTime)
		}
		for _, at := range p.of(int(blob)) {
			truth := s.plan.root.evaluate(func(n int) codesearch.Truth {
				if k := s.plan.leaves[n].kind; k == kindContent || k == kindSym {
					return codesearch.Unknown
				}
				return s.ofPlace(n, p, int(blob), at)
			})
			if truth != codesearch.False {
				s.stats.Skipped[p.Skipped(int(blob))]++
			}
		}
	}
	return nil
}

// stop ends the search for a reason, unless there is one.
func (s *search) stop(reason string) error {
	s.stats.Stopped = cmp.Or(s.stats.Stopped, reason)
	return errStop
}

// ofPlace evaluates a leaf that needs no text for one place of a blob.
func (s *search) ofPlace(n int, p *part, blob int, at place) codesearch.Truth {
	g := s.view.repos[at.repo]
	switch l := s.plan.leaves[n]; l.kind {
	case kindRepo:
		return s.repo[n][at.repo]
	case kindVendor:
		return codesearch.TruthOf(g.vendored(int(at.file)))
	case kindFile:
		return codesearch.TruthOf(l.filter(string(g.path(int(at.file)))))
	case kindBranch:
		holds := false
		g.refsOf(int(at.file), func(r codesearch.Ref) { holds = holds || l.filter(r.Name) })
		return codesearch.TruthOf(holds)
	case kindLang:
		return codesearch.TruthOf(l.filter(p.Lang(blob)))
	}
	return codesearch.Unknown
}

// blob searches one blob, and adds what it finds to the results.
func (s *search) blob(p *partSearch, blob int) error {
	places := p.of(blob)
	if len(places) == 0 {
		return nil
	}
	for n := range s.values {
		s.values[n], s.hits[n] = notEvaluated, s.hits[n][:0]
	}
	var failed error
	ofBlob := func(n int) codesearch.Truth {
		if s.plan.leaves[n].kind.ofBlob() && failed == nil {
			if s.values[n] == notEvaluated {
				s.values[n], failed = s.ofBlob(n, p, blob)
			}
			return s.values[n]
		}
		return codesearch.Unknown
	}
	truth := s.excludedByPlaces(p, blob, places)
	if truth != codesearch.False {
		truth = s.plan.root.evaluate(ofBlob)
	}
	var err error
	switch {
	case failed != nil || truth == codesearch.False:
	case truth == codesearch.True:
		err = s.add(p, blob, places, s.plan.shown(&s.plan.root, ofBlob, nil))
	default:
		err = s.eachPlace(p, blob, places, ofBlob)
	}
	return cmp.Or(failed, err)
}

// notEvaluated is the value of a leaf before it is evaluated for a blob.
const notEvaluated codesearch.Truth = -1

// excludedByPlaces returns False if no place of a blob can match, whatever its text.
func (s *search) excludedByPlaces(p *partSearch, blob int, places []place) codesearch.Truth {
	if !s.plan.filtersPlaces {
		return codesearch.Unknown
	}
	for _, at := range places {
		truth := s.plan.root.evaluate(func(n int) codesearch.Truth { return s.ofPlace(n, p.part, blob, at) })
		if truth != codesearch.False {
			return truth
		}
	}
	return codesearch.False
}

// eachPlace evaluates the query for each place of a blob, and adds the places that match,
// together if the same leaves are shown for them.
func (s *search) eachPlace(p *partSearch, blob int, places []place, ofBlob func(int) codesearch.Truth) error {
	var group []place
	var shown []int
	for _, at := range places {
		value := func(n int) codesearch.Truth {
			if s.plan.leaves[n].kind.ofBlob() {
				return ofBlob(n)
			}
			return s.ofPlace(n, p.part, blob, at)
		}
		if s.plan.root.evaluate(value) != codesearch.True {
			continue
		}
		leaves := s.plan.shown(&s.plan.root, value, nil)
		slices.Sort(leaves)
		if len(group) > 0 && !slices.Equal(leaves, shown) {
			if err := s.add(p, blob, group, shown); err != nil {
				return err
			}
			group = nil
		}
		group, shown = append(group, at), leaves
	}
	if len(group) == 0 {
		return nil
	}
	return s.add(p, blob, group, shown)
}
