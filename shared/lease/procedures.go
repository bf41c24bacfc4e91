package lease

import (
	"time"

	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

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
		procGrant:  space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyString, tuple.AnyInt64), grant),
		procExtend: space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64), extend),
		procRevoke: space.WithArgs(tuple.Match(tuple.AnyString, tuple.AnyInt64), revoke),
		procExpire: expire,
	}
}

func grant(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	l, err := Grant(tx, Terms{Subject: args.Str(0), Parts: SplitParts(args.Str(1)), TTL: milliseconds(args.Int64(2))})
	if err != nil {
		return nil, err
	}
	return Encode(l), nil
}

func extend(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	return nil, Extend(tx, args.Str(0), args.Int64(1), milliseconds(args.Int64(2)))
}

func revoke(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	return nil, Revoke(tx, args.Str(0), args.Int64(1))
}

func expire(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	e, _, err := space.Expiring(tx, args)
	if err != nil {
		return nil, err
	}
	return nil, Expire(tx, e)
}

// milliseconds is a duration that a stranger names: one that is no TTL stays none,
// whatever it would overflow to.
func milliseconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), MaxTTL.Milliseconds()+1)) * time.Millisecond
}
