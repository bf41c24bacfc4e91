package elastic

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"leasehold/shared/codesearch"
	"leasehold/shared/codesearch/match"
)

// search is one call of Search. It is used by one goroutine.
type search struct {
	*plan
	index   *Index
	ctx     context.Context
	options codesearch.Options
	stats   codesearch.Stats
	shown   map[string]*generation // those searched, by id
	scratch match.Scratch
	results
}

// errStop ends a search early; stats.Stopped tells why.
var errStop = errors.New("search stopped")

// errTimeout is the cause of a search's own time limit.
var errTimeout = errors.New("time limit")

// Search finds matches; see codesearch.Searcher. It ends after Grace at the latest.
func (x *Index) Search(ctx context.Context, q codesearch.Query, o codesearch.Options, visit func(codesearch.Match) bool) (codesearch.Stats, error) {
	began := time.Now()
	p, err := newPlan(q)
	if err != nil {
		return codesearch.Stats{}, err
	}
	if ctx.Err() != nil {
		return codesearch.Stats{}, context.Cause(ctx)
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, codesearch.DefaultMaxBytes)
	limited, cancel := context.WithTimeoutCause(ctx, min(cmp.Or(o.Timeout, codesearch.DefaultTimeout), Grace), errTimeout)
	defer cancel()
	s := &search{plan: p, index: x, ctx: limited, options: o, stats: codesearch.Stats{Skipped: map[string]int{}}}
	s.results = results{search: s, visit: visit}
	err = s.run()
	switch {
	case ctx.Err() != nil:
		return s.stats, context.Cause(ctx)
	case errors.Is(err, errTimeout):
		s.stats.Stopped = cmp.Or(s.stats.Stopped, codesearch.StoppedTime)
		err = nil
	}
	if err == nil || errors.Is(err, errStop) {
		err = s.finish()
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	s.stats.Elapsed = time.Since(began)
	return s.stats, err
}

// stop ends the search for a reason, unless there is one.
func (s *search) stop(reason string) error {
	s.stats.Stopped = cmp.Or(s.stats.Stopped, reason)
	return errStop
}

// run finds all blobs that match: those that define a symbol which is named as a word of the
// query first, then all by their object ids.
func (s *search) run() error {
	if err := s.selectRepos(); err != nil || len(s.shown) == 0 {
		return err
	}
	if err := s.countSkipped(); err != nil {
		return err
	}
	join, err := s.newJoin()
	if err != nil {
		return err
	}
	done, err := s.definitions(join)
	if err != nil {
		return err
	}
	for {
		group, err := join.next(s)
		if err != nil || group == nil {
			return err
		}
		group = slices.DeleteFunc(group, func(b *candidate) bool { return done[b.OID] })
		if err := s.verify(group); err != nil {
			return err
		}
	}
}

// selectRepos selects the generations that the filters on repositories do not exclude.
func (s *search) selectRepos() error {
	all, err := s.index.generations(s.ctx)
	s.shown = map[string]*generation{}
	for _, g := range all {
		truth := codesearch.Evaluate(s.Root, func(e codesearch.Expr) codesearch.Truth {
			if f, ok := e.(codesearch.Filter); ok && f.Field == codesearch.FieldRepo {
				return codesearch.TruthOf(s.filters[f](g.Repo))
			}
			return codesearch.Unknown
		})
		if truth != codesearch.False {
			s.shown[g.ID] = g
		}
	}
	s.stats.Repos = len(s.shown)
	return err
}

// ofFile evaluates a leaf that needs no text for a file.
func (s *search) ofFile(e codesearch.Expr, f *file) codesearch.Truth {
	g := s.shown[f.Generation]
	switch e := e.(type) {
	case codesearch.Vendor:
		return codesearch.TruthOf(f.Vendored)
	case codesearch.Filter:
		matches := s.filters[e]
		switch e.Field {
		case codesearch.FieldRepo:
			return codesearch.TruthOf(matches(g.Repo))
		case codesearch.FieldFile:
			return codesearch.TruthOf(matches(string(f.Place.Path)))
		case codesearch.FieldLang:
			return codesearch.TruthOf(matches(f.Language))
		case codesearch.FieldBranch:
			return codesearch.TruthOf(slices.ContainsFunc(g.refsOf(f), func(r codesearch.Ref) bool { return matches(r.Name) }))
		}
	}
	return codesearch.Unknown
}

// may reports whether a file may match, whatever its text.
func (s *search) may(f *file) bool {
	return codesearch.Evaluate(s.Root, func(e codesearch.Expr) codesearch.Truth { return s.ofFile(e, f) }) != codesearch.False
}

// countSkipped counts the files that the filters do not exclude and that are not indexed.
func (s *search) countSkipped() error {
	skipped := selection{alias: files, query: allOf(s.inShown(), s.fileQuery(), object{"exists": object{"field": "skipped"}}), fields: fileFields, order: []string{"oid", "key"}}
	for {
		page, err := next[*file](s.ctx, s.index, &skipped)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, f := range page {
			if s.may(f) {
				s.stats.Skipped[f.Skipped]++
			}
		}
	}
}

// inShown is the query for the files of the generations that are searched.
func (s *search) inShown() any {
	ids := make([]string, 0, len(s.shown))
	for id := range s.shown {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return object{"terms": object{"generation": ids}}
}

// fileQuery is the query for the files that may match, and blobQuery the one for blobs; nil
// if every one may.
func (s *search) fileQuery() any {
	q, _ := (&candidates{plan: s.plan, leaf: ofFile}).of(s.Root)
	return q
}

func (s *search) blobQuery() any {
	q, _ := (&candidates{plan: s.plan, leaf: ofBlob}).of(s.Root)
	return q
}
