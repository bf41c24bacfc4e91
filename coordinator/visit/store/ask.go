package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/fault"
)

// SaveNow has an origin visited as soon as its host allows, in the share that is
// reserved for it, whatever its cooldowns. If a visit is under way, another follows.
func (s *Store) SaveNow(ctx context.Context, now time.Time, id string) error {
	return s.alter(ctx, "save now "+id, now, id, func(r *row) { r.ask(now) })
}

func (r *row) ask(now time.Time) {
	if r.urgent == 0 {
		r.urgent = max(now.Unix(), 1)
	}
}

// SaveAllNow is SaveNow of each that the operator did not disable; those that are
// not known yet are added.
func (s *Store) SaveAllNow(ctx context.Context, now time.Time, all []models.Origin) error {
	return s.tell(ctx, fmt.Sprintf("save %d origins now", len(all)), func() error {
		for _, o := range all {
			was, err := s.read(o.ID)
			if errors.Is(err, fault.ErrNotFound) {
				if err = s.name(0, Named{Origin: o}, now.Unix()); err == nil {
					was, err = s.read(o.ID)
				}
			}
			if err != nil {
				return err
			}
			r := was
			if r.Disabled != visit.ByOperator {
				r.ask(now)
			}
			if err := s.write(was, r, now.Unix()); err != nil {
				return err
			}
		}
		return nil
	})
}

// Enable lets an origin take part again, its failures forgotten, and its rest
// after them too.
func (s *Store) Enable(ctx context.Context, now time.Time, id string) error {
	return s.alter(ctx, "enable "+id, now, id, func(r *row) {
		r.Disabled, r.Failures, r.LastStatus = "", 0, ""
	})
}

// Disable takes an origin out until the operator enables it. A visit under way is
// not stopped.
func (s *Store) Disable(ctx context.Context, now time.Time, id string) error {
	return s.alter(ctx, "disable "+id, now, id, func(r *row) { r.Disabled, r.urgent = visit.ByOperator, 0 })
}

// Steer is one of Enable, Disable and SaveNow, by its name: enable, disable or
// save-now.
func (s *Store) Steer(ctx context.Context, now time.Time, id, what string) error {
	switch what {
	case "enable":
		return s.Enable(ctx, now, id)
	case "disable":
		return s.Disable(ctx, now, id)
	case "save-now":
		return s.SaveNow(ctx, now, id)
	}
	return fmt.Errorf("action %.64q: %w: enable, disable or save-now is accepted", what, fault.ErrInvalid)
}

func (s *Store) alter(ctx context.Context, op string, now time.Time, id string, f func(*row)) error {
	return s.tell(ctx, op, func() error { return s.edit(id, now, f) })
}

// edit changes one origin.
func (s *Store) edit(id string, now time.Time, f func(*row)) error {
	was, err := s.read(id)
	if err != nil {
		return err
	}
	r := was
	f(&r)
	return s.write(was, r, now.Unix())
}
