package api

import (
	"context"
	"net/http"
	"slices"

	"leasehold/shared/catalog"
	"leasehold/shared/catalog/remote"
)

func (s *server) listFindings(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit", "episode", "clip")
	episode, clip, p := q.id("episode"), q.id("clip"), q.part(MaxPage)
	if q.err != nil {
		return nil, q.err
	}
	all, err := s.Catalog.Findings(ctx)
	all = slices.DeleteFunc(all, func(f catalog.Found) bool {
		return other(episode, f.Episode) || other(clip, f.Clip)
	})
	return cut(all, p, remote.NewFinding), err
}

func (s *server) listProblems(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit", "origin", "episode", "clip")
	origin, episode, clip, p := q.id("origin"), q.id("episode"), q.id("clip"), q.part(MaxPage)
	if q.err != nil {
		return nil, q.err
	}
	all, err := s.Catalog.Problems(ctx)
	all = slices.DeleteFunc(all, func(p catalog.Problem) bool {
		return other(origin, p.Origin) || other(episode, p.Problem.Episode) || other(clip, p.Problem.Clip)
	})
	return cut(all, p, remote.NewProblem), err
}

// other reports whether something else was asked for.
func other(wanted, got string) bool { return wanted != "" && wanted != got }
