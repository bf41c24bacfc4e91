package lease

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// MaxTTL is the longest time for which a lease may keep work from other managers
// without progress. It also keeps sums of times from overflowing.
const MaxTTL = 30 * 24 * time.Hour

// Terms describe the lease that a manager asks for.
type Terms struct {
	Subject string        // an id
	Parts   []string      // ids; none: the whole subject
	TTL     time.Duration // above 0, at most MaxTTL
	// Expiry names the procedure that runs when the TTL is over, and may call Expire
	// or Prolong; if empty, the lease expires.
	Expiry string
}

// check refuses an invalid id of a subject or part, and a TTL out of its range, with
// fault.ErrInvalid.
func (t Terms) check() error {
	if !models.ValidID(t.Subject) {
		return fmt.Errorf("%w: subject %q: %s", fault.ErrInvalid, t.Subject, models.IDRule)
	}
	for _, part := range t.Parts {
		if !models.ValidID(part) {
			return fmt.Errorf("%w: part %q: %s", fault.ErrInvalid, part, models.IDRule)
		}
	}
	return checkTTL(t.TTL)
}

func checkTTL(ttl time.Duration) error {
	if ttl <= 0 || ttl > MaxTTL {
		return fmt.Errorf("%w: TTL %s: want more than 0 and at most %s", fault.ErrInvalid, ttl, MaxTTL)
	}
	return nil
}

// Grant grants the caller a lease with a new token. It returns fault.ErrConflict if a live lease
// overlaps any of the parts, fault.ErrInvalid for terms that are not valid, and fault.ErrOverloaded
// if the space is full. The parts are sorted and without duplicates, as Overlap needs them. If
// Terms.Expiry is empty, lease.expire ends the lease.
func Grant(tx space.Tx, terms Terms) (models.Lease, error) {
	if err := terms.check(); err != nil {
		return models.Lease{}, fmt.Errorf("lease.Grant %q: %w", terms.Subject, err)
	}
	parts := slices.Compact(slices.Sorted(slices.Values(terms.Parts)))
	for _, e := range tx.Scan(Space, anyOf(terms.Subject)) {
		if other := Decode(e.Tuple); Overlap(other.Parts, parts) {
			return models.Lease{}, fmt.Errorf("lease.Grant %q: lease %s of %s overlaps: %w", terms.Subject, other.ID, other.Holder, fault.ErrConflict)
		}
	}
	token := tx.NextToken()
	l := models.Lease{
		ID: idOf(token), Holder: tx.Caller(), Subject: terms.Subject,
		Parts: parts, Deadline: tx.Now().Add(terms.TTL), Token: token,
	}
	if terms.Expiry == "" {
		terms.Expiry = procExpire
	}
	if _, err := tx.Put(Space, Encode(l), space.PutOptions{TTL: terms.TTL, Expiry: terms.Expiry}); err != nil {
		return models.Lease{}, fmt.Errorf("lease.Grant %q: %w", terms.Subject, err)
	}
	return l, addTotal(tx, Granted)
}

// Overlap reports whether two sets of parts of one subject share a part. Both lists must be
// sorted, because it goes through them side by side; an empty one stands for the whole subject.
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
