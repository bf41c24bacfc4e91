// Package lock is a distributed lock with fencing. A client that holds the lock for too long loses it, and its
// next write is refused, because another client may have written meanwhile.
package lock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/examples/course"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const lease = 50 * time.Millisecond

// Program has one late client and one on time.
var Program = course.Program{
	Spaces: map[string]space.Options{"lock": {}, "file": {}},
	Procedures: space.Procedures{
		"lock.acquire": space.WithArgs(tuple.Match(), acquire),
		"lock.write":   space.WithArgs(tuple.Match(tuple.AnyInt64, tuple.AnyString), write),
	},
	First: func(ctx context.Context, m *course.Member) error {
		return errors.Join(m.Space("lock").Put(ctx, tuple.New("lock"), 0), m.Space("file").Put(ctx, tuple.New(int64(0), "empty"), 0))
	},
	Roles: []course.Role{{Name: "client", Count: 2, Run: use}},
}

// acquire holds the lock for the caller, for the length of a lease, and returns a token that is larger than all
// before. It waits while another client holds the lock. write compares tokens, because after the lease the lock
// is free again although the client may go on.
func acquire(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	l, free := tx.Find("lock", tuple.Match("lock"), nil)
	if !free {
		return nil, tx.Wait(space.Awaited{Space: "lock", Template: tuple.Match("lock")})
	}
	return tuple.New(tx.NextToken()), tx.Hold(l.Ref, space.HoldOptions{TTL: lease})
}

// write (token, text) replaces the file, unless it was written with a larger token (fault.ErrStaleToken).
func write(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	f, _ := tx.Find("file", tuple.Match(tuple.AnyInt64, tuple.AnyString), nil)
	if last := f.Tuple.Int64(0); args.Int64(0) < last {
		return nil, fmt.Errorf("token %d, the file has %d: %w", args.Int64(0), last, fault.ErrStaleToken)
	}
	return tuple.New(), tx.Replace(f.Ref, args)
}

// use writes once under the lock. The first one pauses until the other has written, as a
// suspended machine does, and is refused then, which is not an error.
func use(ctx context.Context, m *course.Member) error {
	token, err := m.Call(ctx, space.OpID{}, "lock.acquire", tuple.New())
	if err != nil {
		return err
	}
	if token.Int64(0) == 1 {
		if _, err := m.Space("file").Query(ctx, tuple.Match(int64(2), tuple.AnyString)); err != nil {
			return err
		}
	}
	_, err = m.Call(ctx, space.OpID{}, "lock.write", tuple.New(token.Int64(0), fmt.Sprintf("token %d", token.Int64(0))))
	if errors.Is(err, fault.ErrStaleToken) {
		m.Print("token %d: refused", token.Int64(0))
		return nil
	}
	m.Print("token %d: written", token.Int64(0))
	return err
}
