package visits

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// Why an origin that may be visited otherwise waits: the operator gave it hours, or its feed asks not to be read now.
const (
	outsideHours = "outside its hours"
	skipsNow     = "skipHours or skipDays of the feed"
)

// opens returns the first time from a time on at which the hours of the origin and the skip times of its feed allow
// a visit, and why that is not at once. If the two never allow one, only the hours count.
func (r row) opens(from int64) (at int64, why string) {
	if r.forced {
		return from, ""
	}
	const steps = 9 * 24 // of an hour or more: more than a week, after which skip times begin again
	at = from
	for range steps {
		if open, until := r.hours.At(time.Unix(at, 0)); !open {
			at, why = until.Unix(), outsideHours
		} else if r.skip.Has(time.Unix(at, 0)) {
			at, why = nextHour(at), skipsNow
		} else {
			return at, why
		}
	}
	r.skip = 0
	return r.opens(from)
}

// nextHour returns the first full hour after a time.
func nextHour(at int64) int64 { return at - at%3600 + 3600 }

// closes returns when an origin that may be visited now may not be visited any more; policy.Never if that does not
// come.
func (r row) closes(now int64) int64 {
	if r.forced {
		return policy.Never
	}
	end := policy.Never
	if open, until := r.hours.At(time.Unix(now, 0)); open && !until.IsZero() {
		end = until.Unix()
	}
	if r.skip == 0 || r.skip.Has(time.Unix(now, 0)) { // then hours and skip times never meet; see opens
		return end
	}
	for at := nextHour(now); end == policy.Never || at < end; at = nextHour(at) {
		if r.skip.Has(time.Unix(at, 0)) {
			return at
		}
	}
	return end
}

// restOf returns the time from which an origin may be visited, and why it waits until then: what rules.Rest
// returns, or the hours and skip times if that time is outside of them. A request is subject only to a Retry-After and
// these.
func (s *Store) restOf(r row, now int64) (until int64, why string) {
	until, why = s.rulesOf(r.kind).Rest(r.State)
	if r.urgent != 0 {
		until, why = policy.Never, policy.Eligible
		if r.NotBefore > now {
			until, why = r.NotBefore, policy.RetryAfter
		}
	} else if !r.Enabled() {
		return until, why
	}
	if until <= now {
		why = policy.Eligible
	}
	if from := max(until, now); from < policy.Latest {
		if at, closed := r.opens(from); at > from {
			return at, closed
		}
	}
	return until, why
}

// Opens returns when the hours and the skip times of an origin next allow a visit; the zero time if it may be visited now, or is unknown.
func (s *Store) Opens(ctx context.Context, now time.Time, id string) (at time.Time, err error) {
	err = s.file.Read(ctx, "hours of "+id, func(c *sqldb.Conn) error {
		r, ok, err := findID(c, id)
		if opens, _ := r.opens(now.Unix()); err == nil && ok && opens > now.Unix() {
			at = time.Unix(opens, 0).UTC()
		}
		return err
	})
	return at, err
}

// Set changes when an origin is visited; what v leaves out stays. It fails with fault.ErrNotFound for an unknown
// origin, and with fault.ErrInvalid for a value that is not accepted, and then changes nothing.
func (s *Store) Set(ctx context.Context, now time.Time, id string, v models.Visiting) error {
	var refused error
	err := s.alter(ctx, "set "+id, now, id, func(r *row) {
		was := *r
		if refused = r.set(v); refused != nil {
			*r = was
		}
	})
	return errors.Join(refused, err)
}

// set changes what a user may fix of when an origin is visited. After an error some of it may have changed.
func (r *row) set(v models.Visiting) error {
	if v.Every != nil {
		if !models.ValidEvery(*v.Every) {
			return fmt.Errorf("every %v: %w: %s", *v.Every, fault.ErrInvalid, models.EveryRule)
		}
		r.Every = int64(*v.Every)
	}
	if v.Hours == nil {
		return nil
	}
	if err := CheckHours(v.Hours); err != nil {
		return err
	}
	r.hours, _ = models.ParseHours(*v.Hours) // valid
	return nil
}

// CheckHours refuses hours of a user: with fault.ErrInvalid if they have another form, with fault.ErrNotFound for an
// unknown time zone, and with fault.ErrConflict if they begin and end at the same minute. nil leaves them as they are.
func CheckHours(h *models.Hours) error {
	if h == nil {
		return nil
	}
	_, err := models.ParseHours(*h)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, models.ErrNoZone):
		return fmt.Errorf("%w: %w", fault.ErrNotFound, err)
	case errors.Is(err, models.ErrNoHours):
		return fmt.Errorf("%w: %w", fault.ErrConflict, err)
	}
	return fmt.Errorf("%w: %w", fault.ErrInvalid, err)
}
