package embedded

import (
	"cmp"
	"context"
	"errors"

	"leasehold/shared/code"
	"leasehold/shared/code/match"
)

// A search is one call of Search. It is used by one goroutine.
type search struct {
	ctx     context.Context
	plan    *plan
	view    *view
	options code.Options
	stats   code.Stats
	parts   []*partSearch  // by part of the view; nil until candidatesIn is called for it
	repo    [][]code.Truth // by leaf and slot; nil for leaves that are not of kindRepo
	paths   [][]fileSet    // by leaf and slot; nil for leaves that are not of kindPath
	*searchMemory
	results
}

// searchMemory has buffers that one search after the other uses.
type searchMemory struct {
	scratch  match.Scratch
	chunk    []byte       // decompressed text of a chunk
	blobText []byte       // decompressed text of a blob
	values   []code.Truth // by leaf, of the current blob
	hits     [][]hit      // by leaf, of the current blob
}

// errStop ends a search early; stats.Stopped tells why.
var errStop = errors.New("search stopped")

// errTimeout is the cause of a search's own time limit.
var errTimeout = errors.New("time limit")

// Search finds matches; see code.Searcher. It works on one view, which it holds to its end. What
// was found before a limit of the search is delivered, without an error; the cause of ctx, if ctx
// ends, is an error. It fails with fault.ErrClosed if the index is closed and with fault.ErrCorrupt
// if a file is damaged.
func (x *Index) Search(ctx context.Context, q code.Query, o code.Options, visit func(code.Match) bool) (code.Stats, error) {
	began := x.now()
	p, err := newPlan(q)
	if err != nil {
		return code.Stats{}, err
	}
	v, err := x.acquire()
	if err != nil {
		return code.Stats{}, err
	}
	defer x.release(v)
	o.Timeout = cmp.Or(o.Timeout, code.DefaultTimeout)
	limited, cancel := context.WithTimeoutCause(ctx, o.Timeout, errTimeout)
	defer cancel()
	memory, ok := x.searches.Get().(*searchMemory)
	if !ok {
		memory = &searchMemory{}
	}
	defer x.searches.Put(memory)
	o.MaxBytes = cmp.Or(o.MaxBytes, code.DefaultMaxBytes)
	s := &search{ctx: limited, plan: p, view: v, options: o, parts: make([]*partSearch, len(v.parts)), searchMemory: memory,
		stats: code.Stats{Skipped: map[string]int{}}}
	s.results = results{search: s, visit: visit, searched: map[blobKey]*found{}}
	s.selectRepos()
	if err = s.matchPaths(); err == nil {
		err = s.rank()
	}
	if err == nil || errors.Is(err, errStop) {
		err = cmp.Or(s.deliverBest(), s.deliverRest(), err)
	}
	if ctx.Err() != nil { // the caller's; limited may end as well, which is not an error
		return s.stats, context.Cause(ctx)
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	s.stats.Elapsed = x.now().Sub(began)
	return s.stats, err
}

// selectRepos evaluates the filters on repositories, once for each repository. In Stats it counts
// the repositories that may match, and their lost files. All other leaves are Unknown here, so
// only a filter on repositories can exclude one.
func (s *search) selectRepos() {
	s.repo = make([][]code.Truth, len(s.plan.leaves))
	for n, l := range s.plan.leaves {
		if l.kind != kindRepo {
			continue
		}
		s.repo[n] = make([]code.Truth, len(s.view.repos))
		for slot, g := range s.view.repos {
			if g != nil {
				s.repo[n][slot] = code.TruthOf(l.filter(g.repo))
			}
		}
	}
	for slot, g := range s.view.repos {
		if g == nil {
			continue
		}
		truth := s.plan.root.evaluate(func(n int) code.Truth {
			if s.plan.leaves[n].kind == kindRepo {
				return s.repo[n][slot]
			}
			return code.Unknown
		})
		if truth != code.False {
			s.stats.Repos++
			if lost := s.view.lost[g.repoID]; lost > 0 {
				s.stats.Skipped[code.SkipLost] += lost
				s.stats.Missing = max(1, len(s.view.missingSegments))
			}
		}
	}
	s.countMissingRepos()
}

// countMissingRepos counts in Stats the generations that are missing and whose repositories the
// filters do not exclude.
func (s *search) countMissingRepos() {
	for _, repo := range s.view.missingRepos {
		truth := s.plan.root.evaluate(func(n int) code.Truth {
			if l := s.plan.leaves[n]; l.kind == kindRepo {
				return code.TruthOf(l.filter(repo))
			}
			return code.Unknown
		})
		if truth != code.False {
			s.stats.Missing++
		}
	}
}

// countSkipped counts in Stats the files of p that are not indexed and that the query's filters do
// not exclude. Their text is not known, so conditions on it are Unknown.
func (s *search) countSkipped(p *part) error {
	for _, blob := range p.skipped {
		if s.ctx.Err() != nil {
			return s.stop(code.StoppedTime)
		}
		for _, at := range p.placesOf(int(blob)) {
			truth := s.plan.root.evaluate(func(n int) code.Truth {
				if k := s.plan.leaves[n].kind; k == kindContent || k == kindSym {
					return code.Unknown
				}
				return s.evaluateForPlace(n, p, int(blob), at)
			})
			if truth != code.False {
				s.stats.Skipped[p.Skipped(int(blob))]++
			}
		}
	}
	return nil
}

// stop returns errStop, and records the reason unless an earlier one is recorded.
func (s *search) stop(reason string) error {
	s.stats.Stopped = cmp.Or(s.stats.Stopped, reason)
	return errStop
}

// evaluateForPlace returns whether leaf n holds for one place of a blob of p. It is Unknown
// for conditions on text and symbols, which this does not read.
func (s *search) evaluateForPlace(n int, p *part, blob int, at place) code.Truth {
	g := s.view.repos[at.repo]
	switch l := s.plan.leaves[n]; l.kind {
	case kindRepo:
		return s.repo[n][at.repo]
	case kindVendor:
		return code.TruthOf(g.vendored(int(at.file)))
	case kindFile:
		return code.TruthOf(l.filter(string(g.path(int(at.file)))))
	case kindPath:
		return code.TruthOf(s.paths[n][at.repo].has(at.file))
	case kindBranch:
		holds := false
		g.refsOf(int(at.file), func(r code.Ref) { holds = holds || l.filter(r.Name) })
		return code.TruthOf(holds)
	case kindLang:
		return code.TruthOf(l.filter(p.langOf(blob, g.path(int(at.file)))))
	}
	return code.Unknown
}

// searchBlob searches one blob, and returns its matches; nil if it has none. It evaluates first the
// filters on places, which need no text, then the conditions on the blob, once for all places. If
// these do not decide, it evaluates the query for each place.
func (s *search) searchBlob(p *partSearch, blob int) (*found, error) {
	places := p.placesOf(blob)
	if len(places) == 0 { // no generation names it
		return nil, nil
	}
	for n := range s.values {
		s.values[n], s.hits[n] = notEvaluated, s.hits[n][:0]
	}
	var failed error
	blobValue := func(n int) code.Truth {
		if s.plan.leaves[n].kind.aboutBlob() && failed == nil {
			if s.values[n] == notEvaluated {
				s.values[n], failed = s.evaluateForBlob(n, p, blob)
			}
			return s.values[n]
		}
		return code.Unknown
	}
	truth := s.truthByPlaces(p, blob, places)
	if truth != code.False {
		truth = s.plan.root.evaluate(blobValue)
	}
	switch {
	case truth == code.False:
		places = nil
	case truth == code.Unknown && failed == nil:
		places = s.placesThatMatch(p, blob, places, blobValue)
	}
	if len(places) == 0 || failed != nil {
		return nil, failed
	}
	shown := s.plan.shown(&s.plan.root, blobValue, nil)
	f := &found{p, blob, places, shown, s.joinHits(shown)}
	if failed != nil || len(shown) > 0 && len(f.hits) == 0 {
		return nil, failed
	}
	return f, nil
}

// notEvaluated is the value of a leaf before it is evaluated for a blob.
const notEvaluated code.Truth = -1

// truthByPlaces returns False if the filters exclude all places of a blob, so that its text need
// not be read. Any other value means that the blob may match.
func (s *search) truthByPlaces(p *partSearch, blob int, places []place) code.Truth {
	if !s.plan.filtersPlaces {
		return code.Unknown
	}
	for _, at := range places {
		truth := s.plan.root.evaluate(func(n int) code.Truth { return s.evaluateForPlace(n, p.part, blob, at) })
		if truth != code.False {
			return truth
		}
	}
	return code.False
}

// placesThatMatch evaluates the query for each place of a blob, and returns those that match.
func (s *search) placesThatMatch(p *partSearch, blob int, places []place, blobValue func(int) code.Truth) (matching []place) {
	for _, at := range places {
		truth := s.plan.root.evaluate(func(n int) code.Truth {
			if k := s.plan.leaves[n].kind; k.aboutBlob() && (k != kindLang || !p.isEmpty(blob)) {
				return blobValue(n)
			}
			return s.evaluateForPlace(n, p.part, blob, at)
		})
		if truth == code.True {
			matching = append(matching, at)
		}
	}
	return matching
}
