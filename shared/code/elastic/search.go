package elastic

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"leasehold/shared/code"
	"leasehold/shared/code/match"
)

// search is one call of Search. It is used by one goroutine.
type search struct {
	*plan
	index   *Index
	ctx     context.Context
	options code.Options
	stats   code.Stats
	now     snapshot
	shown   map[string]*generation // those searched, by repository; it may be that of now
	scratch match.Scratch
	results
}

// errStop ends a search early; stats.Stopped tells why.
var errStop = errors.New("search stopped")

// errTimeout is the cause of a search's own time limit.
var errTimeout = errors.New("time limit")

// Search finds matches; see code.Searcher. It ends after Grace at the latest, because the
// documents of a hidden generation are removed then. At its own time limit it delivers what it
// has found, and returns no error; the cause of ctx, if that ends, is an error.
func (x *Index) Search(ctx context.Context, q code.Query, o code.Options, visit func(code.Match) bool) (code.Stats, error) {
	began := time.Now()
	p, err := newPlan(q)
	if err != nil {
		return code.Stats{}, err
	}
	if ctx.Err() != nil {
		return code.Stats{}, context.Cause(ctx)
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, code.DefaultMaxBytes)
	o.Timeout = min(cmp.Or(o.Timeout, code.DefaultTimeout), Grace)
	limited, cancel := context.WithTimeoutCause(ctx, o.Timeout, errTimeout)
	defer cancel()
	s := &search{plan: p, index: x, ctx: limited, options: o, stats: code.Stats{Skipped: map[string]int{}}}
	s.results = results{search: s, visit: visit}
	err = s.ended(s.rank())
	if err == nil || errors.Is(err, errStop) {
		err = s.ended(s.deliver())
	}
	if limited.Err() == nil && (err == nil || errors.Is(err, errStop)) {
		err = cmp.Or(s.ended(s.countDeleted()), err)
	}
	if ctx.Err() != nil {
		return s.stats, context.Cause(ctx)
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	s.stats.Elapsed = time.Since(began)
	return s.stats, err
}

// stop returns errStop, and records the reason unless an earlier one is recorded.
func (s *search) stop(reason string) error {
	s.stats.Stopped = cmp.Or(s.stats.Stopped, reason)
	return errStop
}

// ended returns err, or errStop if the search's own time has ended, which is not an error.
func (s *search) ended(err error) error {
	if errors.Is(err, errTimeout) {
		return s.stop(code.StoppedTime)
	}
	return err
}

// selectRepos sets s.shown to the generations that the filters on repositories do not exclude, and
// counts them in Stats. All other leaves are Unknown here, so only a filter on repositories can
// make the query False.
func (s *search) selectRepos() error {
	var err error
	if s.now, err = s.index.current(s.ctx); err != nil {
		return err
	}
	s.shown = s.now.repos
	if s.choosesRepos() {
		s.shown = map[string]*generation{}
		for id, g := range s.now.repos {
			if s.mayChoose(g) {
				s.shown[id] = g
			}
		}
	}
	s.stats.Repos = len(s.shown)
	for at, t := range s.totals() {
		if at != s.now.home && t.files > 0 { // one of its indices was deleted
			s.stats.Skipped[code.SkipLost] += t.files
		}
	}
	return nil
}

// countDeleted counts the files of an index that was deleted while the search read it: some of them may be missing.
func (s *search) countDeleted() error {
	if len(s.shown) == 0 {
		return nil
	}
	at, _, err := s.index.readHome(s.ctx)
	if err != nil || at == s.now.home {
		return err
	}
	lost := 0
	for of, t := range s.totals() {
		if of != at {
			lost += t.files
		}
	}
	s.stats.Skipped[code.SkipLost] = max(lost, s.stats.Skipped[code.SkipLost])
	return nil
}

// choosesRepos reports whether the query has a filter on repositories.
func (s *search) choosesRepos() bool {
	for f := range s.filters {
		if f.Field == code.FieldRepo {
			return true
		}
	}
	return false
}

// mayChoose reports whether the filters on repositories do not exclude a generation.
func (s *search) mayChoose(g *generation) bool {
	return code.False != code.Evaluate(s.Root, func(e code.Expr) code.Truth {
		if f, ok := e.(code.Filter); ok && f.Field == code.FieldRepo {
			return code.TruthOf(s.filters[f](g.Repo))
		}
		return code.Unknown
	})
}

// totals returns the totals of the generations that are searched.
func (s *search) totals() map[home]total {
	if len(s.shown) == len(s.now.repos) {
		return s.now.totals
	}
	of := known{totals: map[home]total{}}
	for _, g := range s.shown {
		of.count(g, 1)
	}
	return of.totals
}

// generationOf returns the generation of a file; nil if it is not searched: it was replaced, is not published yet, or
// never will be, because a process ended.
func (s *search) generationOf(f *file) *generation {
	if g := s.shown[f.RepoID]; g != nil && g.ID == f.Generation {
		return g
	}
	return nil
}

// evaluateForFile returns whether a leaf holds for a file. It is Unknown for a leaf that needs
// the text or the symbols.
func (s *search) evaluateForFile(e code.Expr, f *file) code.Truth {
	g := s.generationOf(f)
	switch e := e.(type) {
	case code.Vendor:
		return code.TruthOf(f.Vendored)
	case code.Path:
		return code.TruthOf(s.matchers[e].MatchName(f.Place.Path))
	case code.Filter:
		matches := s.filters[e]
		switch e.Field {
		case code.FieldRepo:
			return code.TruthOf(matches(g.Repo))
		case code.FieldFile:
			return code.TruthOf(matches(string(f.Place.Path)))
		case code.FieldLang:
			return code.TruthOf(matches(f.Language))
		case code.FieldBranch:
			return code.TruthOf(slices.ContainsFunc(g.refsOf(f), func(r code.Ref) bool { return matches(r.Name) }))
		}
	}
	return code.Unknown
}

// mayMatch reports whether there is a text with which the file would match: its generation is searched, and its
// other fields do not exclude it.
func (s *search) mayMatch(f *file) bool {
	return s.generationOf(f) != nil && code.Evaluate(s.Root, func(e code.Expr) code.Truth { return s.evaluateForFile(e, f) }) != code.False
}

// maxListed is how many generations a query lists.
const maxListed = 10_000

// ofFewRepos returns the query for the files of the generations that are searched, if filters exclude others and
// leave few; else nil, and files of others are dropped as they are read.
func (s *search) ofFewRepos() any {
	if len(s.shown) == len(s.now.repos) || len(s.shown) > maxListed {
		return nil
	}
	return ofGenerations(s.shown)
}

// ofGenerations returns the query for the files of generations.
func ofGenerations(shown map[string]*generation) any {
	ids := make([]string, 0, len(shown))
	for _, g := range shown {
		ids = append(ids, g.ID)
	}
	slices.Sort(ids)
	return object{"terms": object{"generation": ids}}
}

// fileQuery returns the query for the files that may match; nil if every file may.
func (s *search) fileQuery() any {
	q, _ := (&candidates{plan: s.plan, leaf: fileLeaf}).queryFor(s.Root) // verify makes it exact
	return q
}

// blobQuery returns the query for the blobs that may match if no path has a word of the query; nil
// if every blob may.
func (s *search) blobQuery() any {
	q, _ := (&candidates{plan: s.plan, leaf: blobLeaf, noPaths: true}).queryFor(s.Root) // verify makes it exact
	return q
}

// pathQuery returns the query for the files whose path may have a word of the query; nil if every
// file may.
func (s *search) pathQuery() any {
	c := &candidates{plan: s.plan, leaf: fileLeaf}
	q, _ := c.queryFor(code.Or{Of: s.plan.paths})
	return q
}
