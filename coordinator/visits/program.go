package visits

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// Programs outside visit origins of types that this program does not know. A program
// registers its type, claims visits and reports their outcomes.

const (
	// programDeadline is the longest time in which a program may report the outcome of a
	// visit; after it the visit is lost.
	programDeadline = time.Hour
	// mostPrograms limits the number of types.
	mostPrograms = 100
	// mostPassed limits the origins that one claim passes over because their hosts are busy.
	mostPassed = 10_000
)

func (k *cache) loadPrograms(c *sqldb.Conn) error {
	return c.All("SELECT type FROM program", nil, func(from sqldb.Row) error {
		var kind models.OriginKind
		err := from.Scan(&kind)
		k.programs[kind] = true
		return err
	})
}

// Register adds a type of visits that programs make. Repeating it changes nothing. It fails with fault.ErrInvalid
// for a name that is not accepted, with fault.ErrConflict for one in the table of kinds, and with fault.ErrTooLarge if there are 100 types.
func (s *Store) Register(ctx context.Context, kind models.OriginKind) error {
	if kind.Known() {
		return fmt.Errorf("visit type %s: %w: it is a kind of the coordinator's own", kind, fault.ErrConflict)
	}
	if !kind.IsProgram() {
		return fmt.Errorf("visit type %.64q: %w: want 1 to 32 of a-z 0-9 _ -, the first a letter", kind, fault.ErrInvalid)
	}
	return s.write(ctx, "register "+string(kind), func() error {
		if s.cache.programs[kind] {
			return nil
		}
		if len(s.cache.programs) >= mostPrograms {
			return fmt.Errorf("visit type %q: there are %d types: %w", kind, mostPrograms, fault.ErrTooLarge)
		}
		s.update().programs[kind] = true
		return s.db.Exec("INSERT INTO program (type) VALUES (?)", kind)
	})
}

// Programs returns the registered types, sorted.
func (s *Store) Programs(ctx context.Context) (kinds []models.OriginKind, err error) {
	err = s.write(ctx, "visit types", func() error {
		kinds = slices.Sorted(maps.Keys(s.cache.programs))
		return nil
	})
	return kinds, err
}

// ClaimFor claims at most n visits of a registered type for a program: those that a user asked for first, then
// those visited longest ago. Cooldowns, failures and hosts count as for all origins; the query reads more than n,
// because accept may refuse origins and claimed ones are still in the pool. It fails with fault.ErrNotFound if
// the type is not registered.
func (s *Store) ClaimFor(ctx context.Context, now time.Time, kind models.OriginKind, n int) (claims []models.Visit, err error) {
	op := fmt.Sprintf("claim %d visits of %s", n, kind)
	if err := s.sweep(ctx, op, now.Unix()); err != nil {
		return nil, err
	}
	err = s.write(ctx, op, func() error {
		if !s.cache.programs[kind] {
			return fmt.Errorf("visit type %.64q is not registered: %w", kind, fault.ErrNotFound)
		}
		h := s.hostsFor(now.UnixMilli(), n)
		var picked []policy.Candidate
		err := s.db.All("SELECT key, class, ref, host FROM schedule WHERE pool = 204 AND kind = ? ORDER BY ref, key LIMIT ?", []any{kind, mostPassed + len(s.cache.claims)},
			func(from sqldb.Row) error {
				c := policy.Candidate{Place: policy.Place{Pool: poolProgram}}
				err := from.Scan(&c.Key, &c.Place.Class, &c.Place.Ref, &c.Host)
				if _, claimed := s.cache.claims[c.Key]; err == nil && !claimed && len(picked) < n && h.accept(c) {
					picked = append(picked, c)
				}
				return err
			})
		for err == nil && len(picked) > 0 {
			var some []models.Visit
			some, picked, err = s.claimFirst(picked, now)
			claims = append(claims, some...)
		}
		return err
	})
	return claims, err
}

// placeForProgram returns where an origin waits for a program: requests come first, in their
// order, then origins that were never visited, then those visited longest ago. The large negative
// numbers keep the three apart in one ref.
func placeForProgram(r row) policy.Place {
	p := policy.Place{Pool: poolProgram, Ref: r.LastVisit}
	switch {
	case r.urgent != 0:
		p.Ref = -1<<61 + r.urgent
	case r.LastVisit == policy.Never:
		p.Ref = -1<<60 + r.FirstSeen
	}
	return p
}
