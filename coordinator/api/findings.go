package api

import (
	"context"
	"net/http"

	"leasehold/shared/apitypes"
	"leasehold/shared/catalog"
)

func (s *server) listFindings(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit", "episode", "clip")
	about, p := catalog.About{Episode: q.id("episode"), Clip: q.id("clip")}, q.part(MaxPage)
	if q.err != nil {
		return nil, q.err
	}
	found, total, err := s.Catalog.FindingsOf(ctx, about, catalog.Part{Offset: p.offset, Limit: p.limit})
	return listed(found, total, itself), err
}

func (s *server) listProblems(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit", "origin", "episode", "clip")
	about, p := catalog.About{Origin: q.id("origin"), Episode: q.id("episode"), Clip: q.id("clip")}, q.part(MaxPage)
	if q.err != nil {
		return nil, q.err
	}
	problems, total, err := s.Catalog.ProblemsOf(ctx, about, catalog.Part{Offset: p.offset, Limit: p.limit})
	return listed(problems, total, itself), err
}

// listed is a part of a list that was cut already, each item as f shows it.
func listed[S, T any](some []S, total int, f func(S) T) apitypes.Page[T] {
	l := cut(some, part{0, len(some)}, f)
	l.Total = total
	return l
}
