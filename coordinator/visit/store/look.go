package store

import (
	"context"
	"slices"
	"time"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/sqlfile"
)

// Next is an origin that would be visited next, and why.
type Next struct {
	Origin models.Origin
	Pool   string
	Class  int     // of its rate
	Rate   float64 // changes a day
	Value  float64 // 0 for one that was asked for
}

// Next lists the n origins that a claim would take now, the best first. It takes
// none.
func (s *Store) Next(ctx context.Context, now time.Time, n int) (list []Next, err error) {
	err = s.change(ctx, "next visits", func() error {
		picked, err := s.pick(now.Unix(), n)
		for _, c := range picked {
			r, ok, findErr := s.find("SELECT "+columns+" FROM origin WHERE key = ?", c.Key)
			if findErr != nil || !ok {
				return findErr
			}
			if c.Place.Pool == poolUrgent {
				c.Value = 0
			}
			list = append(list, Next{
				Origin: r.origin(), Pool: poolName(c.Place.Pool), Class: int(c.Place.Class), Rate: s.rules.Rate(r.State), Value: c.Value,
			})
		}
		return err
	})
	return list, err
}

// A Look is all that is known of an origin. Its Target is visit.Never under a policy
// that uses none.
type Look struct {
	visit.State
	Origin  models.Origin
	Pool    string
	Place   visit.Place
	Value   float64 // at the time of the look, if it waits
	Rate    float64 // changes a day
	Why     string  // it is not visited now; visit.Eligible
	Until   int64   // when its rest is over
	Visit   string  // under way
	Urgent  bool    // somebody asked for a visit
	Listed  string  // by whom: the id of a lister's origin
	History []Past  // the latest first
}

// Past is an outcome.
type Past struct {
	At      time.Time
	Status  models.Status
	Changed bool
	Changes float64
	Took    models.Seconds
	Size    int64
	Error   string
}

// Look returns all that is known of an origin.
func (s *Store) Look(ctx context.Context, now time.Time, id string) (l Look, err error) {
	err = s.db.Use(ctx, "look at "+id, func() error {
		r, err := s.read(id)
		if err != nil {
			return err
		}
		until, _ := s.rules.Rest(r.State)
		l = Look{
			State: r.State, Origin: r.origin(), Pool: poolName(r.place.Pool), Place: r.place, Rate: s.rules.Rate(r.State),
			Why: s.rules.Why(r.State, now.Unix()), Until: until, Visit: r.visit, Urgent: r.urgent != 0,
		}
		if r.place.Pool < poolUrgent {
			l.Value = s.policy.Worth(r.place, s.quality(r.place.Lister), now.Unix())
		}
		if !slices.Contains(visit.ByTarget, s.policy.Name()) {
			l.Target = visit.Never
		}
		if r.visit != "" {
			l.Why = visit.InFlight
		}
		if r.Lister != 0 {
			if _, err := s.db.One("SELECT id FROM origin WHERE key = ?", []any{r.Lister}, sqlfile.Into(&l.Listed)); err != nil {
				return err
			}
		}
		l.History, err = s.history(r.Key)
		return err
	})
	return l, err
}

func (s *Store) history(key int64) (list []Past, err error) {
	err = s.db.All("SELECT at, status, changed, changes, took, size, error FROM outcome WHERE origin = ? ORDER BY at DESC", []any{key},
		func(from scanner) error {
			var p Past
			var at int64
			err := from.Scan(&at, &p.Status, &p.Changed, &p.Changes, &p.Took, &p.Size, &p.Error)
			p.At = time.Unix(at, 0).UTC()
			list = append(list, p)
			return err
		})
	return list, err
}

// IsListed reports whether a lister named an origin.
func (s *Store) IsListed(ctx context.Context, id string) (is bool, err error) {
	err = s.db.Use(ctx, "lister of "+id, func() error {
		is, err = s.db.One("SELECT key FROM origin WHERE id = ? AND lister <> 0", []any{id}, sqlfile.Into(new(int64)))
		return err
	})
	return is, err
}

// AllListed returns the ids of the origins that listers named.
func (s *Store) AllListed(ctx context.Context) (ids map[string]bool, err error) {
	ids = map[string]bool{}
	err = s.db.Use(ctx, "origins of listers", func() error {
		return s.db.All("SELECT id FROM origin WHERE lister <> 0", nil, func(from scanner) error {
			var id string
			err := from.Scan(&id)
			ids[id] = true
			return err
		})
	})
	return ids, err
}

// Due reports whether an origin may be visited now, or is being visited.
func (s *Store) Due(ctx context.Context, now time.Time) (due bool, err error) {
	err = s.db.Use(ctx, "due visits", func() error {
		for p, n := range s.state.pools {
			if n > 0 && p != poolRest && p != poolOff {
				due = true
				return nil
			}
		}
		due, err = s.db.One("SELECT key FROM origin WHERE pool = ? AND queue = 0 AND class = 0 AND ref <= ? LIMIT 1",
			[]any{poolRest, now.Unix()}, sqlfile.Into(new(int64)))
		return err
	})
	return due, err
}

// Wake returns when the next rest is over, a zero time if nothing rests.
func (s *Store) Wake(ctx context.Context) (at time.Time, err error) {
	err = s.db.Use(ctx, "next visit", func() error {
		var ref int64
		ok, err := s.db.One("SELECT ref FROM origin WHERE pool = ? AND queue = 0 AND class = 0 ORDER BY ref LIMIT 1", []any{poolRest}, sqlfile.Into(&ref))
		if ok {
			at = time.Unix(ref, 0)
		}
		return err
	})
	return at, err
}
