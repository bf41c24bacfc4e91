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
// Invariants: of the leases of one subject, no two that live share a part. A
// lease ends exactly once. Its deadline is half-open: at that very instant it is
// over. Ids and tokens are never reused, and a lease's token only grows. Whoever
// shows another token than the current one moves nothing: fault.ErrStaleToken; a
// lease that has ended is fault.ErrNotFound.
//
// The same space counts, in tuples ("total", what, n int64), how many leases were
// granted, extended, revoked and expired; granted is revoked + expired + live. It
// counts results that came too late to move one, shows claims (package task), and has
// what was ingested last (package work).
//
// The package does not know what the work is: that a lease outlives its TTL while
// its task is held, and takes its waiting task with it, is decided in package
// work, by the expiry that it names in Terms.
package lease

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Space is where leases, claims and totals are.
const Space = "lease"

// Spaces returns the spaces that the protocol needs.
func Spaces() []space.Definition { return []space.Definition{{Name: Space}} }

// Encode returns the tuple of a lease.
func Encode(l models.Lease) tuple.Tuple {
	return tuple.New("lease", l.ID, l.Holder, l.Subject, JoinParts(l.Parts), l.Deadline.UnixMilli(), l.Token)
}

// Decode returns the lease of a tuple that Any matches.
func Decode(t tuple.Tuple) models.Lease {
	return models.Lease{
		ID: t.Str(1), Holder: t.Str(2), Subject: t.Str(3), Parts: SplitParts(t.Str(4)),
		Deadline: time.UnixMilli(t.Int64(5)).UTC(), Token: t.Int64(6),
	}
}

// JoinParts writes parts as one field: sorted and comma-separated.
func JoinParts(parts []string) string { return strings.Join(slices.Sorted(slices.Values(parts)), ",") }

// SplitParts reads what JoinParts wrote.
func SplitParts(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// Any matches every lease.
func Any() tuple.Template {
	return tuple.Match("lease", tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64)
}

// AnyOf matches the leases of one subject.
func AnyOf(subject string) tuple.Template {
	p := Any()
	p[3] = subject
	return p
}

func withID(id string) tuple.Template {
	p := Any()
	p[1] = id
	return p
}

// Find returns the live lease of that id, else fault.ErrNotFound.
func Find(tx space.Tx, id string) (space.Entry, models.Lease, error) {
	e, ok := tx.Find(Space, withID(id), nil)
	if !ok {
		return space.Entry{}, models.Lease{}, fmt.Errorf("lease %q: %w", id, fault.ErrNotFound)
	}
	return e, Decode(e.Tuple), nil
}

// current is Find for whoever shows the current token.
func current(tx space.Tx, id string, token int64) (space.Entry, models.Lease, error) {
	e, l, err := Find(tx, id)
	if err == nil && l.Token != token {
		err = fmt.Errorf("lease %q: token %d, the current one is %d: %w", id, token, l.Token, fault.ErrStaleToken)
	}
	return e, l, err
}
