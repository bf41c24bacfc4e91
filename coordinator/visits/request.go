package visits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// SaveNow has an origin visited as soon as its host allows, in the share reserved for such visits, regardless of
// cooldowns, but not before the end of a Retry-After and not outside its hours. If a visit is under way, another follows. Like the methods
// below, it fails with fault.ErrNotFound for an unknown origin.
func (s *Store) SaveNow(ctx context.Context, now time.Time, id string) error {
	return s.alter(ctx, "save now "+id, now, id, func(r *row) { r.request(now) })
}

// request notes that a visit was asked for, unless an earlier request waits.
func (r *row) request(now time.Time) {
	if r.urgent == 0 {
		r.urgent = max(now.Unix(), 1)
	}
}

// SaveAllNow requests a visit of each origin now, ahead of the queue, as SaveNow does. Origins that the operator
// disabled, and unknown ones, are left out. After an error, origins of earlier transactions stay requested.
func (s *Store) SaveAllNow(ctx context.Context, now time.Time, all []models.Origin) error {
	return stepThrough(ctx, s, fmt.Sprintf("save %d origins now", len(all)), all, func(o models.Origin) error {
		s.notify()
		err := s.edit(o.ID, now.Unix(), func(r *row) {
			if r.Disabled != policy.ByOperator {
				r.request(now)
			}
		})
		if errors.Is(err, fault.ErrNotFound) {
			return nil
		}
		return err
	})
}

// Tell records a report that an origin has changed, such as one of a forge's webhook. It counts as a date;
// whether such reports are true is learned. A visit follows within Rules.ToldGap if a slot and its host allow;
// further reports until then change nothing, and write nothing.
func (s *Store) Tell(ctx context.Context, now time.Time, id string) error {
	return s.write(ctx, "changed "+id, func() error {
		r, err := read(s.db, id)
		if err != nil || policy.Tell(r.State, now.Unix()) == r.State {
			return err
		}
		s.notify()
		return s.edit(id, now.Unix(), func(r *row) { r.State = policy.Tell(r.State, now.Unix()) })
	})
}

// Enable enables an origin again, and forgets its failures and the rest after them.
func (s *Store) Enable(ctx context.Context, now time.Time, id string) error {
	return s.alter(ctx, "enable "+id, now, id, func(r *row) {
		r.Disabled, r.Failures, r.LastStatus = "", 0, ""
	})
}

// Disable takes an origin out until the operator enables it. A visit under way is not stopped.
func (s *Store) Disable(ctx context.Context, now time.Time, id string) error {
	return s.alter(ctx, "disable "+id, now, id, func(r *row) { r.Disabled, r.urgent, r.forced = policy.ByOperator, 0, false })
}

// Steer calls Enable, Disable, SaveNow or ForceNow, as action names it: enable, disable, save-now or force-now.
// Any other name gives fault.ErrInvalid.
func (s *Store) Steer(ctx context.Context, now time.Time, id, action string) error {
	switch action {
	case "enable":
		return s.Enable(ctx, now, id)
	case "disable":
		return s.Disable(ctx, now, id)
	case "save-now":
		return s.SaveNow(ctx, now, id)
	case "force-now":
		return s.ForceNow(ctx, now, id)
	}
	return fmt.Errorf("action %.64q: want enable, disable, save-now or force-now: %w", action, fault.ErrInvalid)
}

// alter changes an origin in one transaction, and wakes those that wait for visits.
func (s *Store) alter(ctx context.Context, op string, now time.Time, id string, change func(*row)) error {
	return s.write(ctx, op, func() error {
		s.notify()
		return s.edit(id, now.Unix(), change)
	})
}
