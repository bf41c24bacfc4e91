// Package lease is the protocol of a manager's timed right to a piece of work.
//
// A lease is a tuple in the space "lease":
//
//	("lease", id, holder, subject, parts, deadlineMs int64, token int64)
//
// parts is sorted and comma-separated; without parts the lease is for the whole
// subject. The wall-clock deadline is for people; the tuple's TTL decides.
//
//	          grant           extend, prolong, raise
//	(nothing) ─────▶ live ◀───────────────┐
//	                  │ └─────────────────┘
//	                  ├── revoke (current token), end ──▶ revoked
//	                  └── its TTL is over ──────────────▶ expired
//
// Invariants: two live leases of one subject never share a part. A lease ends exactly once. At its deadline it has
// already ended. Ids and tokens are never reused, and a lease's token only grows. A call with another token than the
// current one changes nothing and returns fault.ErrStaleToken. For a lease that has ended, calls return
// fault.ErrNotFound.
//
// The same space holds three other kinds of tuple: how many leases were granted,
// extended, revoked and expired, and how many results came too late to change one
// (("total", what, n int64), where granted = revoked + expired + live); the claims of
// package task; and the ingestion counters of package work.
//
// The package does not know what the work is. Package work decides, in the expiry
// procedure that it names in Terms, that a lease outlives its TTL while a session
// holds its task, and that its waiting task ends with it.
package lease

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Space is the space of leases, claims and totals.
const Space = "lease"

// Spaces returns the spaces that the protocol needs.
func Spaces() []space.Definition { return []space.Definition{{Name: Space, QueryOnly: true}} }

const (
	procGrant  = "lease.grant"
	procExtend = "lease.extend"
	procRevoke = "lease.revoke"
	procExpire = "lease.expire"
)

// Procedures returns the verbs as procedures: lease.grant (subject, parts,
// ttlMs) returns the lease's tuple; lease.extend (id, token, ttlMs) and
// lease.revoke (id, token) return nothing; lease.expire is the expiry of a lease
// that names no other.
func Procedures() space.Procedures {
	return space.Procedures{
		procGrant: space.WithArgs3(func(tx space.Tx, subject, parts string, ttlMs int64) (tuple.Tuple, error) {
			l, err := Grant(tx, Terms{Subject: subject, Parts: SplitParts(parts), TTL: ttlOf(ttlMs)})
			if err != nil {
				return nil, err
			}
			return Encode(l), nil
		}),
		procExtend: space.WithArgs3(func(tx space.Tx, id string, token, ttlMs int64) (tuple.Tuple, error) {
			return nil, Extend(tx, id, token, ttlOf(ttlMs))
		}),
		procRevoke: space.WithArgs2(func(tx space.Tx, id string, token int64) (tuple.Tuple, error) {
			return nil, Revoke(tx, id, token)
		}),
		procExpire: func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			e, _, err := space.Expiring(tx, args)
			if err != nil {
				return nil, err
			}
			return nil, Expire(tx, e)
		},
	}
}

// ttlOf converts an untrusted number of milliseconds. It clamps it to 0 (no TTL) and
// just above MaxTTL, and checkTTL refuses both, because a larger number would
// overflow to a valid TTL.
func ttlOf(ms int64) time.Duration {
	return time.Duration(min(max(ms, 0), MaxTTL.Milliseconds()+1)) * time.Millisecond
}

// Find returns the live lease of that id, else fault.ErrNotFound.
func Find(tx space.Tx, id string) (space.Entry, models.Lease, error) {
	e, ok := tx.Find(Space, template(id, tuple.AnyString), nil)
	if !ok {
		return space.Entry{}, models.Lease{}, fmt.Errorf("lease %q: %w", id, fault.ErrNotFound)
	}
	return e, Decode(e.Tuple), nil
}

// findCurrent refuses any token but the lease's, because the holder of another token has lost the lease to a later
// attempt.
func findCurrent(tx space.Tx, id string, token int64) (space.Entry, models.Lease, error) {
	e, l, err := Find(tx, id)
	if err == nil && l.Token != token {
		err = fmt.Errorf("lease %q: token %d, the current one is %d: %w", id, token, l.Token, fault.ErrStaleToken)
	}
	return e, l, err
}

func idOf(token int64) string { return "l" + strconv.FormatInt(token, 10) }

// Current returns the live lease with that id; ok is false if there is none.
func Current(ctx context.Context, repo space.Repository, id string) (l models.Lease, ok bool, err error) {
	t, ok, err := repo.Space(Space).QueryP(ctx, template(id, tuple.AnyString))
	if err != nil || !ok {
		return l, false, err
	}
	return Decode(t), true, nil
}
