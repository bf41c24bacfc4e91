package api

import (
	"context"
	"net/http"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/remote"
)

// What follows is for managers that keep their catalog here: the verbs of
// catalog.Catalog as package catalog/remote calls them.

// in reads the body of a request and passes it on.
func in[T any](r *http.Request, f func(T) (any, error)) (any, error) {
	var v T
	if err := body(r, &v); err != nil {
		return nil, err
	}
	return f(v)
}

func (s *server) catalogOrigin(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(o models.Origin) (any, error) {
		if err := mayName(r, o.URI); err != nil {
			return nil, err
		}
		isNew, err := s.Catalog.AddOrigin(ctx, o)
		return remote.Added{New: isNew}, err
	})
}

func (s *server) catalogOutcome(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(o models.Outcome) (any, error) { return nil, s.Catalog.RecordOutcome(ctx, o) })
}

func (s *server) catalogCurate(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(l remote.Listing) (any, error) {
		n, err := s.Catalog.Curate(ctx, l.Origin, l.At, catalog.Listing{
			Episodes: l.Episodes, Clips: l.Clips, Problems: l.Problems, Complete: l.Complete,
		})
		return remote.Curated(n), err
	})
}

func (s *server) catalogSelect(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(q remote.Selection) (any, error) {
		busy := make([]catalog.Busy, len(q.Busy))
		for i, b := range q.Busy {
			busy[i] = catalog.Busy(b)
		}
		research, priority, err := s.Catalog.Select(ctx, busy, q.Limit)
		return remote.Selected{Research: research, Priority: priority}, err
	})
}

func (s *server) catalogIngest(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(i remote.Ingestion) (any, error) { return nil, s.Catalog.Ingest(ctx, i.Result, i.At) })
}

func (s *server) catalogLift(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(p remote.Pairs) (any, error) { return nil, s.Catalog.Lift(ctx, p.Episode, p.Clips) })
}

func (s *server) getTotals(ctx context.Context, r *http.Request) (any, error) {
	if q := ask(r); q.err != nil {
		return nil, q.err
	}
	t, err := s.Catalog.Totals(ctx)
	return remote.Totals(t), err
}
