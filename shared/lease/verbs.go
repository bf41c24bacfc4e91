package lease

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Terms are what a lease is asked for.
type Terms struct {
	Subject string
	Parts   []string // none: the whole subject
	TTL     time.Duration
	// Expiry names the procedure that decides when the TTL ends, with Expire; if
	// empty the lease expires.
	Expiry string
}

// Grant grants the caller a lease, unless a live one overlaps any of its parts:
// fault.ErrConflict.
func Grant(tx space.Tx, terms Terms) (models.Lease, error) {
	if terms.TTL <= 0 || terms.Subject == "" {
		return models.Lease{}, fmt.Errorf("lease.Grant %q for %s: %w: a subject and a TTL are wanted", terms.Subject, terms.TTL, fault.ErrInvalid)
	}
	for _, e := range tx.Scan(Space, AnyOf(terms.Subject)) {
		if other := Decode(e.Tuple); overlap(other.Parts, terms.Parts) {
			return models.Lease{}, fmt.Errorf("lease.Grant %s: lease %s of %s overlaps: %w", terms.Subject, other.ID, other.Holder, fault.ErrConflict)
		}
	}
	token := tx.NextToken()
	l := models.Lease{
		ID: "l" + strconv.FormatInt(token, 10), Holder: tx.Caller(), Subject: terms.Subject,
		Parts: slices.Sorted(slices.Values(terms.Parts)), Deadline: tx.Now().Add(terms.TTL), Token: token,
	}
	if terms.Expiry == "" {
		terms.Expiry = procExpire
	}
	if _, err := tx.Put(Space, Encode(l), space.PutOptions{TTL: terms.TTL, Expiry: terms.Expiry}); err != nil {
		return models.Lease{}, err
	}
	return l, add(tx, Granted)
}

// overlap reports whether two leases of one subject share a part.
func overlap(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	return slices.ContainsFunc(a, func(part string) bool { return slices.Contains(b, part) })
}

// Extend lets the lease's TTL begin anew. fault.ErrStaleToken and
// fault.ErrNotFound tell a late caller that the right is gone.
func Extend(tx space.Tx, id string, token int64, ttl time.Duration) error {
	e, l, err := current(tx, id, token)
	if err != nil {
		return fmt.Errorf("lease.Extend: %w", err)
	}
	if err := prolong(tx, e, l, ttl); err != nil {
		return err
	}
	return add(tx, Extended)
}

// Prolong moves the end of a lease whose work is in somebody's hands.
func Prolong(tx space.Tx, e space.Entry, ttl time.Duration) error {
	return prolong(tx, e, Decode(e.Tuple), ttl)
}

func prolong(tx space.Tx, e space.Entry, l models.Lease, ttl time.Duration) error {
	l.Deadline = tx.Now().Add(ttl)
	if err := tx.Replace(e.Ref, Encode(l)); err != nil {
		return err
	}
	return tx.Extend(e.Ref, ttl)
}

// Revoke ends the lease.
func Revoke(tx space.Tx, id string, token int64) error {
	e, _, err := current(tx, id, token)
	if err != nil {
		return fmt.Errorf("lease.Revoke: %w", err)
	}
	if err := tx.Take(e.Ref); err != nil {
		return err
	}
	return add(tx, Revoked)
}

// End revokes a lease whatever its token, if it has not ended yet.
func End(tx space.Tx, id string) error {
	_, l, err := Find(tx, id)
	if err != nil {
		return nil // it has
	}
	return Revoke(tx, id, l.Token)
}

// Expire ends a lease whose time is over.
func Expire(tx space.Tx, e space.Entry) error {
	if err := tx.Take(e.Ref); err != nil {
		return err
	}
	return add(tx, Expired)
}

// Raise gives a lease the token of a new attempt, so that the old one is stale.
// A lease that has ended stays ended.
func Raise(tx space.Tx, id string, token int64) error {
	e, l, err := Find(tx, id)
	if err != nil {
		return nil // there is nothing to fence
	}
	l.Token = token
	return tx.Replace(e.Ref, Encode(l))
}

const (
	procGrant  = "lease.grant"
	procExtend = "lease.extend"
	procRevoke = "lease.revoke"
	procExpire = "lease.expire"
)

// Procedures returns the verbs as procedures: lease.grant (subject, parts,
// ttlMs) returns the lease's tuple; lease.extend (id, token, ttlMs) and
// lease.revoke (id, token) return nothing.
func Procedures() space.Procedures {
	return space.Procedures{
		procGrant: func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			l, err := Grant(tx, Terms{Subject: args.Str(0), Parts: SplitParts(args.Str(1)), TTL: milliseconds(args.Int64(2))})
			return Encode(l), err
		},
		procExtend: func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			return nil, Extend(tx, args.Str(0), args.Int64(1), milliseconds(args.Int64(2)))
		},
		procRevoke: func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			return nil, Revoke(tx, args.Str(0), args.Int64(1))
		},
		procExpire: func(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
			x, err := space.ParseExpired(args)
			if err != nil {
				return nil, err
			}
			return nil, Expire(tx, space.Entry{Ref: x.Ref})
		},
	}
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
