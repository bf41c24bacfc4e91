package api

import (
	"context"
	"fmt"

	"leasehold/coordinator/permission"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/hold"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

// holdTuple takes a tuple of a space for a client that acknowledges it. A task is refused, because a claim
// is acknowledged by its result.
func (s *server) holdTuple(ctx context.Context, q *request, wanted types.Taking) (types.Taken, error) {
	from := q.text("space")
	switch {
	case !wanted.Ack:
		return types.Taken{}, fmt.Errorf("hold_s: %w: it has no effect without ack", fault.ErrInvalid)
	case from == task.Space:
		return types.Taken{}, fmt.Errorf("ack: %w: a task is claimed with POST /api/v1/sessions/{session}/claims, and its result ends the claim", fault.ErrForbidden)
	}
	ttl := hold.DefaultTime
	if wanted.Hold != 0 {
		var err error
		if ttl, err = seconds("hold_s", wanted.Hold, hold.MaxTime); err != nil {
			return types.Taken{}, err
		}
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
			_ = s.holds.Back(context.WithoutCancel(ctx), from, id) // an error means that it has ended
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
