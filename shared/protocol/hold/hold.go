// Package hold is the protocol of gets that a client without a session acknowledges, as clients of
// the HTTP API do. A taken tuple stays in its space, hidden, until the client acknowledges it or
// gives it back, or until a time is over; then it is back at its old place. So a client that dies
// loses nothing, and one that is too late learns it.
//
// The hold belongs to no session. A tuple ("hold", id, space, ref) in the space "hold" stands for it,
// and goes with it. An id is used once.
package hold

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Space holds a tuple for each hold.
const Space = "hold"

// Bounds of a hold.
const (
	MinTime     = time.Second
	DefaultTime = 30 * time.Second
	MaxTime     = 10 * time.Minute
	maxHolds    = 100_000
)

// Spaces returns the space that the protocol needs.
func Spaces() []space.Definition {
	return []space.Definition{{Name: Space, QueryOnly: true, Options: space.Options{Capacity: maxHolds}}}
}

const (
	procTake   = "hold.take"
	procAck    = "hold.ack"
	procBack   = "hold.back"
	procExpire = "hold.expire"
)

// Procedures returns hold.take (space, template, nanoseconds, wait), hold.ack (space, id), hold.back
// (space, id), and the expiry of a hold. closed are the spaces from which nothing may be taken so,
// because only their protocols take from them.
func Procedures(closed map[string]bool) space.Procedures {
	take := func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) { return take(tx, closed, args) }
	return space.Procedures{
		procTake:   space.WithArgs(takeArgs, take),
		procAck:    space.WithArgs2(ack),
		procBack:   space.WithArgs2(back),
		procExpire: expire,
	}
}

// take (space, template, nanoseconds, wait) hides the first tuple that matches, and returns the id of
// the hold and the encoded tuple; nothing if none matches and it shall not wait.
func take(tx space.Tx, closed map[string]bool, args tuple.Tuple) (tuple.Tuple, error) {
	in, t, ttl, waits, err := parseTake(args)
	if err != nil {
		return nil, err
	}
	if closed[in] {
		return nil, fmt.Errorf("space %s: %w: its tuples cannot be held by a client without a session", in, fault.ErrForbidden)
	}
	if !tx.Exists(in) {
		return nil, fmt.Errorf("space %.100q: %w", in, fault.ErrNotFound)
	}
	if ttl < MinTime || ttl > MaxTime {
		return nil, fmt.Errorf("hold for %s: %w: want %s to %s", ttl, fault.ErrInvalid, MinTime, MaxTime)
	}
	e, ok := tx.Find(in, t, nil)
	switch {
	case !ok && waits:
		return nil, tx.Wait(space.Awaited{Space: in, Template: t})
	case !ok:
		return tuple.Tuple{}, nil
	}
	if err := tx.Hold(e.Ref, space.HoldOptions{TTL: ttl, Expiry: procExpire, NoSession: true}); err != nil {
		return nil, err
	}
	id := "h" + strconv.FormatInt(tx.NextToken(), 10)
	if _, err := tx.Put(Space, encode(id, in, e.Ref), space.PutOptions{}); err != nil {
		return nil, err
	}
	return Taken{id, e.Tuple}.encode(), nil
}

// ack (space, id) removes the held tuple for good.
func ack(tx space.Tx, in, id string) (tuple.Tuple, error) {
	ref, err := end(tx, in, id)
	if err == nil {
		err = tx.Done(ref)
	}
	return nil, err
}

// back (space, id) returns the held tuple to its old place.
func back(tx space.Tx, in, id string) (tuple.Tuple, error) {
	ref, err := end(tx, in, id)
	if err == nil {
		err = tx.Back(ref, space.OldPlace)
	}
	return nil, err
}

// end removes the tuple of a hold, and returns the ref of the tuple that is held.
func end(tx space.Tx, in, id string) (ref int64, err error) {
	h, ok := tx.Find(Space, match(id, in, tuple.AnyInt64), nil)
	if !ok {
		return 0, fmt.Errorf("hold %.100q of space %.100q: %w: it has ended, or its time is over", id, in, fault.ErrStaleToken)
	}
	ref = refOf(h.Tuple)
	if err := tx.Take(h.Ref); err != nil {
		return 0, err
	}
	if e, ok := tx.Entry(ref); !ok || !e.Held {
		return 0, fmt.Errorf("hold %s: %w: its tuple is gone", id, fault.ErrStaleToken)
	}
	return ref, nil
}

// expire removes the tuple of a hold whose time is over. The engine returns the held tuple.
func expire(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	if h, ok := tx.Find(Space, match(tuple.AnyString, tuple.AnyString, e.Ref), nil); ok {
		return nil, tx.Take(h.Ref)
	}
	return nil, nil
}

// Client calls the procedures over one session. It may be used concurrently.
type Client struct{ Repo space.Repository }

// Taken is a tuple that is held for the caller.
type Taken struct {
	ID    string
	Tuple tuple.Tuple
}

// Take holds the first tuple of a space that matches, for ttl. If none does, it waits until ctx ends
// if waits is true; else ok is false. It fails with fault.ErrForbidden for a space of a protocol, with
// fault.ErrNotFound for an unknown one, and with fault.ErrInvalid for a ttl outside MinTime to MaxTime.
func (c Client) Take(ctx context.Context, from string, t tuple.Template, ttl time.Duration, waits bool) (taken Taken, ok bool, err error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procTake, tuple.New(from, t.Append(nil), int64(ttl), waits))
	if err != nil || len(reply) == 0 {
		return Taken{}, false, err
	}
	taken, err = decodeTaken(reply)
	return taken, err == nil, err
}

// Ack removes a held tuple for good. fault.ErrStaleToken means that the hold has ended.
func (c Client) Ack(ctx context.Context, in, id string) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procAck, tuple.New(in, id))
	return err
}

// Back returns a held tuple to its old place. fault.ErrStaleToken means that the hold has ended.
func (c Client) Back(ctx context.Context, in, id string) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procBack, tuple.New(in, id))
	return err
}
