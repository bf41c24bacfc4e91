package store

import (
	"context"
	"time"

	"leasehold/coordinator/visit"
)

// SaveNow has an origin visited as soon as its host allows, in the share that is
// reserved for it, whatever its cooldowns. If a visit is under way, another follows.
func (s *Store) SaveNow(ctx context.Context, now time.Time, id string) error {
	return s.alter(ctx, "save now "+id, now, id, func(r *row) {
		if r.urgent == 0 {
			r.urgent = max(now.Unix(), 1)
		}
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

func (s *Store) alter(ctx context.Context, op string, now time.Time, id string, f func(*row)) error {
	return s.change(ctx, op, func() error {
		was, err := s.read(id)
		if err != nil {
			return err
		}
		r := was
		f(&r)
		return s.write(was, r, now.Unix())
	})
}
