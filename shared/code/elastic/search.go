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
	shown   map[string]*generation // those searched, by id
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
	all, err := s.index.generations(s.ctx)
	s.shown = map[string]*generation{}
	for _, g := range all {
		truth := code.Evaluate(s.Root, func(e code.Expr) code.Truth {
			if f, ok := e.(code.Filter); ok && f.Field == code.FieldRepo {
				return code.TruthOf(s.filters[f](g.Repo))
			}
			return code.Unknown
		})
		if truth != code.False {
			s.shown[g.ID] = g
			if g.Blobs != *s.index.blobsID.Load() { // the index of its blobs was deleted
				s.stats.Skipped[code.SkipLost] += g.Files
			}
		}
	}
	s.stats.Repos = len(s.shown)
	return err
}

// evaluateForFile returns whether a leaf holds for a file. It is Unknown for a leaf that needs
// the text or the symbols.
func (s *search) evaluateForFile(e code.Expr, f *file) code.Truth {
	g := s.shown[f.Generation]
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

// mayMatch reports whether there is a text with which the file would match: its other fields do
// not exclude it.
func (s *search) mayMatch(f *file) bool {
	return code.Evaluate(s.Root, func(e code.Expr) code.Truth { return s.evaluateForFile(e, f) }) != code.False
}

// inShownGenerations returns the query for the files of the generations that are searched.
func (s *search) inShownGenerations() any {
	ids := make([]string, 0, len(s.shown))
	for id := range s.shown {
		ids = append(ids, id)
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
