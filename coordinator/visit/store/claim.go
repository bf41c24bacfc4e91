package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/fault"
)

// Claim takes the best n origins that may be visited at a time, fewer if there are
// no more, and notes that they are visited, in one transaction. Visits that were
// asked for come first, in a share of their own; what they leave, others get.
func (s *Store) Claim(ctx context.Context, now time.Time, n int) (claims []models.Visit, err error) {
	err = s.change(ctx, fmt.Sprintf("claim %d visits", n), func() error {
		picked, err := s.pick(now.Unix(), n)
		if err != nil {
			return err
		}
		for _, c := range picked {
			v, err := s.claim(c, now.Unix())
			if err != nil {
				return err
			}
			claims = append(claims, v)
		}
		return s.granted(n, picked)
	})
	if err != nil {
		return nil, err
	}
	return claims, nil
}

// claim notes that an origin is visited. No visit has the id of an earlier one, even
// if it follows it at once.
func (s *Store) claim(c visit.Candidate, now int64) (models.Visit, error) {
	was, ok, err := s.find("SELECT "+columns+" FROM origin WHERE key = ?", c.Key)
	if err != nil || !ok {
		return models.Visit{}, fmt.Errorf("origin number %d: %w", c.Key, err)
	}
	r := was
	r.visit = fmt.Sprintf("visit-%.80s-%d-%016x", r.id, now, rand.Uint64())
	r.LastScheduled, r.urgent = now, 0
	if r.Target != visit.Never {
		s.advance(r.kind, r.Target)
	}
	if r.host != "" {
		s.state.later(func(m *memory) { m.last[r.host] = now })
	}
	return s.claimed(r), s.write(was, r, now)
}

// claimed is the visit under way, as it is put into the space.
func (s *Store) claimed(r row) models.Visit {
	v := models.Visit{
		ID:     r.visit,
		Origin: r.origin(),
		Known:  models.Known{Digest: r.LastDigest, ETag: r.etag, Modified: r.modified, Next: s.state.dates[int32(r.Key)].next},
		Listed: r.Lister != 0,
	}
	if r.LastSuccess != visit.Never {
		v.Known.At = time.Unix(r.LastSuccess, 0).UTC()
	}
	return v
}

// advance moves the queue position of a kind, which only grows.
func (s *Store) advance(kind models.OriginKind, target int64) {
	s.state.later(func(m *memory) {
		if at, ok := m.position[kind]; !ok || target > at {
			m.position[kind] = target
		}
	})
}

// Claimed lists the visits under way, so that those that nobody has can be put
// again after a restart.
func (s *Store) Claimed(ctx context.Context) (all []models.Visit, err error) {
	err = s.db.Use(ctx, "visits under way", func() error {
		return s.db.All("SELECT "+columns+" FROM origin WHERE visit <> '' ORDER BY last_scheduled, key", nil, func(from scanner) error {
			r, err := scanRow(from)
			all = append(all, s.claimed(r))
			return err
		})
	})
	return all, err
}

// Adopt notes visits that are under way without the store's doing, by their origin:
// whoever has one is not to be sent again. Those of unknown origins are ignored.
func (s *Store) Adopt(ctx context.Context, now time.Time, under map[string]string) error {
	return s.change(ctx, fmt.Sprintf("adopt %d visits", len(under)), func() error {
		for id, name := range under {
			err := s.edit(id, now, func(r *row) {
				if r.visit != name {
					r.visit, r.LastScheduled = name, max(r.LastScheduled, now.Unix())
				}
			})
			if err != nil && !errors.Is(err, fault.ErrNotFound) {
				return err
			}
		}
		return nil
	})
}

// pick sweeps, and chooses: asked for first, then by policy.
func (s *Store) pick(now int64, n int) ([]visit.Candidate, error) {
	if now < s.state.clock-3600 { // it was set back
		if err := s.mend(now); err != nil {
			return nil, err
		}
	}
	s.state.clock = now
	if err := s.sweep(now); err != nil || n <= 0 {
		return nil, err
	}
	s.settle()
	q := &queues{s: s, cursors: map[cursorKey]*cursor{}, want: n}
	hosts := s.politeness(now, n)
	counts := s.counts()
	urgent := visit.Pick(visit.RoundRobin{}, asUrgent{q}, now, s.reserved(n), counts, hosts.accept)
	picked := append(urgent, visit.Pick(s.policy, q, now, n-len(urgent), counts, hosts.accept)...)
	if left := n - len(picked); left > 0 {
		picked = append(picked, visit.Pick(visit.RoundRobin{}, asUrgent{q}, now, left, counts, hosts.accept)...)
	}
	if q.err != nil {
		return nil, q.err
	}
	return picked, s.park(hosts.refused, now)
}

// counts are what the policy shares slots out by.
func (s *Store) counts() visit.Counts {
	c := s.state.counts
	c.Served = s.state.facts.Granted
	return c
}

// reserved is how many of n slots are for visits that were asked for: their share,
// which also begins with a slot, and is exact over many batches.
func (s *Store) reserved(n int) int {
	served := float64(s.state.facts.Granted)
	return int(math.Ceil((served+float64(n))*s.rules.NowShare)) - int(math.Ceil(served*s.rules.NowShare))
}

// settle lets what the transaction under way has moved so far be seen by the rest of
// it. If it fails afterwards, all is counted anew.
func (s *Store) settle() {
	s.state.settled = s.state.settled || len(s.state.pending.moves) > 0
	s.state.commit()
}

// asUrgent shows the urgent pool to a policy of one pool.
type asUrgent struct{ *queues }

// Of implements visit.Queues.
func (q asUrgent) Of(visit.Pool) []visit.Queue { return q.queues.Of(poolUrgent) }

// park lets refused origins rest until their host may be asked again; then they are
// back at their place, since that depends on their state only.
func (s *Store) park(refused map[int64]int64, now int64) error {
	for key, until := range refused {
		was, ok, err := s.find("SELECT "+columns+" FROM origin WHERE key = ?", key)
		if err != nil {
			return err
		}
		if !ok || was.urgent != 0 {
			continue
		}
		is := was
		is.place = visit.Place{Pool: poolRest, Ref: until}
		s.state.move(was, is)
		err = s.db.Exec("UPDATE origin SET pool = ?, queue = 0, class = 0, ref = ? WHERE key = ?", poolRest, until, key)
		if err != nil {
			return err
		}
	}
	return nil
}
