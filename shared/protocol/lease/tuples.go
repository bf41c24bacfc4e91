package lease

import (
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/tuple"
)

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

// template matches leases; id and subject may be formals.
func template(id, subject any) tuple.Template {
	return tuple.Match("lease", id, tuple.AnyString, subject, tuple.AnyString, tuple.AnyInt64, tuple.AnyInt64)
}

// Any matches every lease.
func Any() tuple.Template { return template(tuple.AnyString, tuple.AnyString) }

// anyOf matches the leases of one subject.
func anyOf(subject string) tuple.Template { return template(tuple.AnyString, subject) }

// JoinParts writes parts as one field: sorted and comma-separated.
func JoinParts(parts []string) string { return strings.Join(slices.Sorted(slices.Values(parts)), ",") }

// SplitParts reads what JoinParts wrote.
func SplitParts(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// total is how often What happened.
type total struct {
	What string
	N    int64
}

func (t total) encode() tuple.Tuple { return tuple.New("total", t.What, t.N) }

func decodeTotal(t tuple.Tuple) total { return total{What: t.Str(1), N: t.Int64(2)} }

// AnyTotal matches the total named what.
func AnyTotal(what string) tuple.Template { return tuple.Match("total", what, tuple.AnyInt64) }

func anyTotals() tuple.Template { return tuple.Match("total", tuple.AnyString, tuple.AnyInt64) }
