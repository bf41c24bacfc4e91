package lease

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// MaxTTL is the longest time for which anybody may keep work from all others
// without a sign of progress. It also keeps sums of times from overflowing.
const MaxTTL = 30 * 24 * time.Hour

// Terms are what a lease is asked for.
type Terms struct {
	Subject string        // an id
	Parts   []string      // ids; none: the whole subject
	TTL     time.Duration // above 0, at most MaxTTL
	// Expiry names the procedure that decides when the TTL ends, with Expire; if
	// empty the lease expires.
	Expiry string
}

func (t Terms) check() error {
	if !models.ValidID(t.Subject) {
		return fmt.Errorf("%w: subject %q is no id", fault.ErrInvalid, t.Subject)
	}
	for _, part := range t.Parts {
		if !models.ValidID(part) {
			return fmt.Errorf("%w: part %q is no id", fault.ErrInvalid, part)
		}
	}
	return checkTTL(t.TTL)
}

func checkTTL(ttl time.Duration) error {
	if ttl <= 0 || ttl > MaxTTL {
		return fmt.Errorf("%w: a TTL of %s; it must be above 0 and at most %s", fault.ErrInvalid, ttl, MaxTTL)
	}
	return nil
}

// Grant grants the caller a lease, unless a live one overlaps any of its parts:
// fault.ErrConflict.
func Grant(tx space.Tx, terms Terms) (models.Lease, error) {
	if err := terms.check(); err != nil {
		return models.Lease{}, fmt.Errorf("lease.Grant %q: %w", terms.Subject, err)
	}
	parts := slices.Compact(slices.Sorted(slices.Values(terms.Parts)))
	for _, e := range tx.Scan(Space, AnyOf(terms.Subject)) {
		if other := Decode(e.Tuple); Overlap(other.Parts, parts) {
			return models.Lease{}, fmt.Errorf("lease.Grant %q: lease %s of %s overlaps: %w", terms.Subject, other.ID, other.Holder, fault.ErrConflict)
		}
	}
	token := tx.NextToken()
	l := models.Lease{
		ID: "l" + strconv.FormatInt(token, 10), Holder: tx.Caller(), Subject: terms.Subject,
		Parts: parts, Deadline: tx.Now().Add(terms.TTL), Token: token,
	}
	if terms.Expiry == "" {
		terms.Expiry = procExpire
	}
	if _, err := tx.Put(Space, Encode(l), space.PutOptions{TTL: terms.TTL, Expiry: terms.Expiry}); err != nil {
		return models.Lease{}, fmt.Errorf("lease.Grant %q: %w", terms.Subject, err)
	}
	return l, add(tx, Granted)
}

// Overlap reports whether two pieces of work on one subject share a part; both lists
// are sorted, and an empty one is the whole subject.
func Overlap(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	for len(a) > 0 && len(b) > 0 {
		switch c := strings.Compare(a[0], b[0]); {
		case c == 0:
			return true
		case c < 0:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}
