package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/coordinator"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

func (s *server) listVisitTypes(ctx context.Context, q *request) (types.Page[types.VisitType], error) {
	kinds, err := s.Visits.Programs(ctx)
	types := make([]types.VisitType, len(kinds))
	for i, k := range kinds {
		types[i].Type = k
	}
	return cut(q, types), err
}

func (s *server) addVisitType(ctx context.Context, _ *request, t types.VisitType) (types.VisitType, error) {
	return t, s.Visits.Register(ctx, t.Type)
}

// requireRegistered refuses a kind of a program that was not registered with fault.ErrNotFound. Other kinds pass.
func (s *server) requireRegistered(ctx context.Context, kind models.OriginKind) error {
	if !kind.IsProgram() {
		return nil
	}
	kinds, err := s.Visits.Programs(ctx)
	if err == nil && !slices.Contains(kinds, kind) {
		err = fmt.Errorf("kind %q: %w: use %s; POST %s/visit-types registers another", kind, fault.ErrNotFound,
			wording.Or(slices.Concat(models.VisitedKinds(), []models.OriginKind{models.API, models.Pushed}, kinds)...), v1)
	}
	return err
}

// claimVisits claims up to n.Limit visits of a type for a program; fewer if fewer are due.
func (s *server) claimVisits(ctx context.Context, _ *request, n types.NewClaims) (types.Page[models.Visit], error) {
	if n.Limit < 1 || n.Limit > maxTuples {
		return types.Page[models.Visit]{}, fmt.Errorf("limit %d: %w: want 1 to %d", n.Limit, fault.ErrInvalid, maxTuples)
	}
	claims, err := s.Visits.ClaimFor(ctx, time.Now(), n.Type, n.Limit)
	return toPage(claims, len(claims), func(v models.Visit) models.Visit { return v }), err
}

// pushOrigins adds the origins that a program lists to its lister. All are checked before the first is added, so
// that fault.ErrInvalid means that nothing was added.
func (s *server) pushOrigins(ctx context.Context, q *request, l models.Listed) (types.Pushed, error) {
	lister, err := s.Catalog.Origin(ctx, q.text("lister"))
	if err != nil {
		return types.Pushed{}, err
	}
	if lister.Kind != models.Pushed {
		return types.Pushed{}, fmt.Errorf("origin %s is of kind %s: %w: want a lister of kind %s", lister.ID, lister.Kind, fault.ErrConflict, models.Pushed)
	}
	if err := checkListed(&l); err != nil {
		return types.Pushed{}, fmt.Errorf("list: %w", err)
	}
	if end := l.From + len(l.Origins); l.Next > 0 && l.Next != end {
		return types.Pushed{}, fmt.Errorf("list: next %d: %w: want %d, which is from and the number of origins in this part", l.Next, fault.ErrConflict, end)
	}
	if l.Full { // the last part, behind which the list does not go on
		l.Next = 0
	}
	for i, n := range l.Origins {
		if err := s.requireRegistered(ctx, n.Kind); err != nil {
			return types.Pushed{}, fmt.Errorf("origin %d: %w", i, err)
		}
		if !lister.MayList(n) {
			return types.Pushed{}, fmt.Errorf("origin %d: kind %.64q, uri %.100q: %w: want a feed or git at an http(s) URL, or a URI of a registered type",
				i, n.Kind, models.Redact(n.URI), fault.ErrConflict)
		}
	}
	return types.Pushed{Listed: len(l.Origins)}, coordinator.Push(ctx, s.Catalog, s.Visits, lister.ID, l)
}
