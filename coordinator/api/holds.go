package api

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"leasehold/coordinator/permission"
	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/hold"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

// holdTime returns how long a tuple is held. A time out of range is refused even if it has no effect.
func holdTime(wanted types.Taking) (time.Duration, error) {
	ttl, err := seconds("hold_s", cmp.Or(wanted.Hold, models.SecondsOf(hold.DefaultTime)), hold.MaxTime)
	if err == nil && ttl < hold.MinTime {
		err = fmt.Errorf("hold_s %v: %w: want 1 to %v seconds", wanted.Hold, fault.ErrInvalid, models.SecondsOf(hold.MaxTime))
	}
	return ttl, err
}

// holdTuple takes a tuple of a space for a client that acknowledges it within ttl. A task is refused, because a claim
// is acknowledged by its result.
func (s *server) holdTuple(ctx context.Context, q *request, wanted types.Taking, ttl time.Duration) (types.Taken, error) {
	from := q.text("space")
	if from == task.Space {
		return types.Taken{}, fmt.Errorf("ack: %w: a task is claimed with POST /api/v1/sessions/{session}/claims, and its result ends the claim", fault.ErrForbidden)
	}
	if err := s.Acks.Check(); err != nil {
		return types.Taken{}, err
	}
	var id string
	take := func(ctx context.Context, t tuple.Template, waits bool) (tuple.Tuple, bool, error) {
		taken, ok, err := s.holds.Take(ctx, from, t, ttl, waits)
		id = taken.ID
		return taken.Tuple, ok, err
	}
	shown, err := lookUp(ctx, types.Lookup{Template: wanted.Template, Wait: wanted.Wait}, func(ctx context.Context, t tuple.Template) (tuple.Tuple, error) {
		found, _, err := take(ctx, t, true)
		return found, err
	}, func(ctx context.Context, t tuple.Template) (tuple.Tuple, bool, error) {
		return take(ctx, t, false)
	})
	q.finish = func(written bool) {
		if !written { // the client has not heard of the hold
			_ = s.Acks.Do(context.WithoutCancel(ctx), func(ctx context.Context) error { return s.holds.Back(ctx, from, id) }) // an error means that it has ended
		}
	}
	return types.Taken{Line: shown.Line, Fields: shown.Fields, Hold: id}, err
}

func (s *server) ackHold(ctx context.Context, q *request) (none, error) {
	if err := permission.Take(access.Of(ctx), q.text("space")); err != nil {
		return none{}, err
	}
	return none{}, s.holds.Ack(ctx, q.text("space"), q.text("hold"))
}

func (s *server) backHold(ctx context.Context, q *request) (none, error) {
	if err := permission.Take(access.Of(ctx), q.text("space")); err != nil {
		return none{}, err
	}
	return none{}, s.holds.Back(ctx, q.text("space"), q.text("hold"))
}
