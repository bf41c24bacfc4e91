package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/coordinator/visit/store"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// Scheduled is a catalog whose origins are visited: what is added to it or removed
// from it is, in s too. Adding an origin again is a listing: one that was disabled
// takes part again.
func Scheduled(c catalog.Catalog, s *store.Store) catalog.Catalog { return scheduled{c, s} }

type scheduled struct {
	catalog.Catalog
	store *store.Store
}

// AddOrigin is part of catalog.Catalog.
func (s scheduled) AddOrigin(ctx context.Context, o models.Origin) (isNew bool, err error) {
	isNew, err = s.Catalog.AddOrigin(ctx, o)
	if err != nil || !o.Kind.Visited() {
		return isNew, err
	}
	return isNew, s.store.List(ctx, time.Now(), store.Listing{Origins: []store.Named{{Origin: o}}})
}

// Origin is part of catalog.Catalog.
func (s scheduled) Origin(ctx context.Context, id string) (models.Origin, error) {
	o, err := s.Catalog.Origin(ctx, id)
	if err != nil {
		return o, err
	}
	o.Listed, err = s.store.IsListed(ctx, id)
	return o, err
}

// Origins is part of catalog.Catalog.
func (s scheduled) Origins(ctx context.Context) ([]models.Origin, error) {
	all, err := s.Catalog.Origins(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := s.store.AllListed(ctx)
	for i := range all {
		all[i].Listed = listed[all[i].ID]
	}
	return all, err
}

// RemoveOrigin is part of catalog.Catalog.
func (s scheduled) RemoveOrigin(ctx context.Context, id string) error {
	if err := s.Catalog.RemoveOrigin(ctx, id); err != nil {
		return err
	}
	return s.store.Remove(ctx, time.Now(), id)
}

// list adds the origins that a lister named.
func list(ctx context.Context, c catalog.Catalog, s *store.Store, o models.Outcome) error {
	lister, err := c.Origin(ctx, o.Origin)
	if errors.Is(err, fault.ErrNotFound) {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	l := store.Listing{Lister: o.Origin, From: o.Listed.From, Next: o.Listed.Next, Full: o.Listed.Full}
	if len(o.Listed.Origins) > models.MaxListed {
		return nil // no manager of ours names more
	}
	for _, n := range o.Listed.Origins {
		if !lister.MayList(n) {
			continue // a manager of ours never names it
		}
		one := models.Origin{
			ID: models.NewID(string(n.Kind), n.URI), Kind: n.Kind, URI: n.URI, Priority: lister.Priority, AddedAt: time.Now().UTC(),
		}
		if known, err := c.Origin(ctx, one.ID); err == nil {
			one = known
		} else if _, err := c.AddOrigin(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", one.URI, err)
		}
		l.Origins = append(l.Origins, store.Named{Origin: one, Created: n.Created, Updated: n.Updated})
	}
	err = s.List(ctx, time.Now(), l)
	if errors.Is(err, fault.ErrNotFound) {
		return nil
	}
	return err
}
