package gospace

import (
	"context"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// SpaceEvent is a change of a tuple: it was put, taken, replaced or renewed in place (replace),
// hidden by a holder (hold), back from it (back), or taken by it (done).
type SpaceEvent struct {
	Change string // put, take, replace, hold, back or done
	Tuple  Tuple
}

// SpaceSubscription delivers the changes of a space in their order. Its methods may be called
// concurrently.
type SpaceSubscription struct {
	space   *Space
	changes space.Subscription
}

// Subscribe subscribes to the changes of tuples that match, from now on; without fields, to all
// changes. It ends with Close, and with the handle. At most 256 subscriptions of a handle are open.
func (s *Space) Subscribe(template ...interface{}) (*SpaceSubscription, error) {
	var p tuple.Template
	if len(template) > 0 {
		var err error
		if p, err = encodeTemplate(template); err != nil {
			return nil, failure(err)
		}
	}
	var changes space.Subscription
	err := s.run(atOnce, func(ctx context.Context, sp space.Space) (err error) {
		changes, err = sp.Notify(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &SpaceSubscription{s, changes}, nil
}

// Next waits for changes, with the context and timeout of the handle that has subscribed. Missed is how many changes
// before them were dropped, because more than 4,096 or 16 MiB of them waited. It fails with fault.ErrClosed after
// Close, and after the connection to a remote space was lost.
func (u *SpaceSubscription) Next() (events []SpaceEvent, missed int, err error) {
	ctx, stop := u.space.callContext(waiting)
	defer stop()
	found, missed, err := u.changes.Next(ctx)
	if err != nil {
		return nil, 0, failure(err)
	}
	for _, e := range found {
		events = append(events, SpaceEvent{string(e.Change), decodeTuple(e.Tuple)})
	}
	return events, missed, nil
}

// Close ends the subscription, and the calls of Next that wait.
func (u *SpaceSubscription) Close() error {
	ctx, stop := u.space.callContext(atOnce)
	defer stop()
	if err := u.changes.Close(ctx); err != nil {
		return failure(err)
	}
	return nil
}
