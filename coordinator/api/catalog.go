package api

import (
	"context"
	"net/http"

	"leasehold/models"
	"leasehold/shared/apitypes"
	"leasehold/shared/catalog"
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
		return apitypes.Added{New: isNew}, err
	})
}

func (s *server) catalogOutcome(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(o models.Outcome) (any, error) { return nil, s.Catalog.RecordOutcome(ctx, o) })
}

func (s *server) catalogCurate(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(l apitypes.Listing) (any, error) {
		return s.Catalog.Curate(ctx, l.Origin, l.At, l.Listing)
	})
}

func (s *server) catalogSelect(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(q apitypes.Selection) (any, error) {
		research, priority, err := s.Catalog.Select(ctx, q.Busy, q.Limit)
		return apitypes.Selected{Research: research, Priority: priority}, err
	})
}

func (s *server) catalogIngest(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(i apitypes.Ingestion) (any, error) { return nil, s.Catalog.Ingest(ctx, i.Result, i.At) })
}

func (s *server) catalogLift(ctx context.Context, r *http.Request) (any, error) {
	return in(r, func(p catalog.Busy) (any, error) { return nil, s.Catalog.Lift(ctx, p.Episode, p.Clips) })
}

func (s *server) getTotals(ctx context.Context, r *http.Request) (any, error) {
	if q := ask(r); q.err != nil {
		return nil, q.err
	}
	return s.Catalog.Totals(ctx)
}
