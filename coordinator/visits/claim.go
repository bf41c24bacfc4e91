package visits

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// Claim takes the best n origins that may be visited at a time, fewer if there are not as many, and notes that
// they are visited before it returns them. Visits that were asked for come first, in a share of their own; others
// get the rest of that share. It picks in one transaction and claims in others: an origin changed in between is
// left out. With an error it returns no claims, although the earlier transactions stay on disk: Claimed has them
// at the next start, or they count as lost after Rules.LostAfter.
func (s *Store) Claim(ctx context.Context, now time.Time, n int) (claims []models.Visit, err error) {
	op := fmt.Sprintf("claim %d visits", n)
	picked, hosts, err := s.pick(ctx, op, now, n)
	if err != nil {
		return nil, err
	}
	next := picked
	err = s.runSteps(ctx, op, func() (done bool, err error) {
		if len(next) == 0 {
			s.countGranted(now, n, picked, hosts)
			return true, nil
		}
		var some []models.Visit
		some, next, err = s.claimFirst(next, now)
		claims = append(claims, some...)
		return false, err
	})
	if err != nil {
		return nil, err
	}
	return claims, nil
}

// claimAtOnce is how many origins claimFirst reads with one query.
const claimAtOnce = 64

var selectToClaim = selectRows + " WHERE key IN (?" + strings.Repeat(", ?", claimAtOnce-1) + ")"

// claimFirst notes, in the transaction under way, that the first of the candidates are visited from at on, and returns
// their visits and the other candidates. It leaves out an origin that does not wait any more where it was picked, or
// whose hours are over. It reads and writes many at once, because a database may be a network away. all must not be
// empty.
func (s *Store) claimFirst(all []policy.Candidate, at time.Time) (claims []models.Visit, left []policy.Candidate, err error) {
	some, now := all[:min(len(all), claimAtOnce)], at.Unix()
	found, err := s.rowsToClaim(some)
	if err != nil {
		return nil, nil, err
	}
	var begun []row
	for n, c := range some {
		was, ok := found[c.Key]
		if _, claimed := s.cache.claims[c.Key]; !ok || claimed || was.place != c.Place {
			continue
		}
		if opens, _ := was.opens(now); opens > now { // more ended their hours than one sweep places
			if err := s.insertClaims(begun); err != nil {
				return nil, nil, err
			}
			return claims, all[n+1:], s.save(was, was, now) // may change the next one of its host, so found is old
		}
		r := s.begin(was, c, at)
		begun, claims = append(begun, r), append(claims, s.visitOf(r))
	}
	return claims, all[len(some):], s.insertClaims(begun)
}

// rowsToClaim reads at most claimAtOnce origins, by key. One that was removed is missing.
func (s *Store) rowsToClaim(some []policy.Candidate) (map[int64]row, error) {
	keys, found := make([]any, claimAtOnce), map[int64]row{}
	for n := range keys {
		keys[n] = some[min(n, len(some)-1)].Key // the last one fills the rest, so that there is one statement
	}
	return found, s.db.All(selectToClaim, keys, func(from sqldb.Row) error {
		r, err := scanRow(from)
		found[r.Key] = r
		return err
	})
}

// begin notes in memory that a visit of an origin begins, and returns the origin with it. It moves the position of the
// queue and starts the gap of the host. No visit has the id of an earlier one, even if it follows it within a second,
// because the id has a random part.
func (s *Store) begin(was row, c policy.Candidate, at time.Time) row {
	r, now := was, at.Unix()
	r.claim(fmt.Sprintf("visit-%.80s-%d-%016x", r.id, now, rand.Uint64()), now)
	k := s.update()
	before, known := k.position[r.kind]
	if !known {
		before = policy.Never
	}
	// A requested visit may have a target that is years ahead.
	if position := s.policy.Position(before, r.State); position != before && c.Place.Pool != poolUrgent {
		k.position[r.kind] = position
	}
	s.startHostGap(r.host, at)
	k.move(was, r)
	return r
}

// insertClaims writes claims into their table, with statements for 64, 8 and 1 of them: each connection keeps its
// statements, and each is a round trip.
func (s *Store) insertClaims(all []row) error {
	for len(all) > 0 {
		n := 1
		for _, several := range []int{8, 64} {
			if len(all) >= several {
				n = several
			}
		}
		var args []any
		for _, r := range all[:n] {
			args = append(args, r.Key, r.visit, r.LastScheduled)
		}
		all = all[n:]
		err := s.db.Exec("INSERT INTO claim (key, claimed, claimed_at) VALUES (?, ?, ?)"+strings.Repeat(", (?, ?, ?)", n-1), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// visitOf returns the visit of r under way, as it is put into the space. It has the digest and the HTTP
// validators of the last success, by which a manager finds that nothing has changed.
func (s *Store) visitOf(r row) models.Visit {
	v := models.Visit{
		ID:     r.visit,
		Origin: r.origin(),
		Known:  models.Known{Digest: r.LastDigest, ETag: r.etag, Modified: r.modified, Next: s.cache.dates[int32(r.Key)].next},
		Listed: r.Lister != 0, HostSlots: s.rules.HostSlots, LongestGap: models.SecondsOf(s.rules.LongestGap),
		Unconditional: s.rulesOf(r.kind).Unconditional(r.State, r.LastScheduled),
	}
	if r.LastSuccess != policy.Never {
		v.Known.At = time.Unix(r.LastSuccess, 0).UTC()
	}
	return v
}

// Claimed lists the visits under way, so that those that no manager has can be put again after a restart, in the
// order in which they were claimed.
func (s *Store) Claimed(ctx context.Context) (all []models.Visit, err error) {
	err = s.write(ctx, "visits under way", func() error {
		return s.db.All(selectRows+` WHERE key IN (SELECT key FROM schedule WHERE visit <> '' UNION ALL SELECT key FROM claim)
			ORDER BY coalesce(claimed_at, last_scheduled), key`, nil, func(from sqldb.Row) error {
			r, err := scanRow(from)
			all = append(all, s.visitOf(r))
			return err
		})
	})
	return all, err
}

// AdoptInFlight notes visits that are in the spaces and not in the store, because its file is an old copy: their
// origins must not be visited twice. visits has the ids of the visits by the id of their origin. Unknown origins
// are ignored. After an error none is noted.
func (s *Store) AdoptInFlight(ctx context.Context, now time.Time, visits map[string]string) error {
	return s.write(ctx, fmt.Sprintf("adopt %d visits", len(visits)), func() error {
		for origin, id := range visits {
			id = bounded(id, longestVisit)
			err := s.edit(origin, now.Unix(), func(r *row) {
				if r.visit != id {
					r.visit, r.LastScheduled = id, max(r.LastScheduled, now.Unix())
				}
			})
			if err != nil && !errors.Is(err, fault.ErrNotFound) {
				return err
			}
		}
		return nil
	})
}

// pick chooses n origins that may be visited now, and changes only where origins wait: if the clock was set back
// by more than an hour since the last pick it corrects their times (fixClock), and it brings back the origins
// whose rest is over (sweep). It returns the requested ones first, then the others by policy. busy has the hosts
// that delayed others. Each step is a transaction of its own, so that none is long. Steps before an error stay.
func (s *Store) pick(ctx context.Context, op string, now time.Time, n int) (picked []policy.Candidate, busy *hosts, err error) {
	var clockSetBack bool
	err = s.write(ctx, op, func() error {
		clockSetBack = now.Unix() < s.cache.clock-3600
		s.cache.clock = now.Unix()
		return nil
	})
	if err == nil && clockSetBack {
		err = s.fixClock(ctx, op, now.Unix())
	}
	if err == nil {
		err = s.sweep(ctx, op, now.Unix())
	}
	if err == nil {
		err = s.write(ctx, op, func() (err error) {
			picked, busy, err = s.choose(now, n)
			return err
		})
	}
	return picked, busy, err
}

// choose chooses n of the origins that wait now, in the transaction under way. It changes nothing. First come the
// requested origins, in the slots that are reserved for them, then in the same way those whose changes were
// reported, then the others by policy, and in the slots that these leave more requested and reported ones. busy, which is never nil, has the waits of hosts, for which accept refused
// origins.
func (s *Store) choose(now time.Time, n int) (picked []policy.Candidate, busy *hosts, err error) {
	h := s.hostsFor(now.UnixMilli(), n)
	if n <= 0 {
		return nil, h, nil
	}
	q := &queues{store: s, hosts: h, cursors: map[cursorKey]*cursor{}, want: n}
	counts := s.counts()
	pick := func(p policy.Policy, from policy.Queues, most int) {
		picked = append(picked, policy.Pick(p, from, now.Unix(), min(most, n-len(picked)), counts, h.accept)...)
	}
	urgent, told := onlyPool{q, poolUrgent}, onlyPool{q, poolTold}
	pick(policy.RoundRobin{}, urgent, s.reserved(n, s.rules.NowShare))
	pick(policy.RoundRobin{}, told, s.reserved(n, toldShare))
	pick(s.policy, q, n)
	pick(policy.RoundRobin{}, urgent, n)
	pick(policy.RoundRobin{}, told, n)
	return picked, h, q.err
}

// counts returns the numbers by which the policy divides slots, from the cache: the origins of
// each type with and without dates, its visits under way, the slots handed out so far by pool, and the visits a day
// that were granted lately.
func (s *Store) counts() policy.Counts {
	c := s.cache.counts
	c.PerDay = s.cache.pace.PerDay
	c.ServedBy = maps.Clone(s.cache.served)
	c.Types = map[string]policy.TypeCounts{}
	for name, n := range s.cache.underWay {
		c.Types[name] = policy.TypeCounts{Flight: n}
	}
	for g, n := range s.cache.groups {
		t := c.Types[string(g.Kind)]
		switch g.Group {
		case policy.PoolA.String():
			t.A += n
		case policy.PoolB1.String(), policy.PoolB2.String(), policy.PoolB3.String():
			t.B += n
		}
		c.Types[string(g.Kind)] = t
	}
	return c
}

// toldShare is the largest share of the slots for origins whose changes were reported while others wait, so that
// reports without end do not stop all other visits.
const toldShare = 0.5

// reserved is how many of n slots a share is, such as that of visits that were asked for: it
// begins with a slot, and is exact over many batches.
func (s *Store) reserved(n int, share float64) int {
	served := float64(s.cache.facts.Granted)
	return int(math.Ceil((served+float64(n))*share)) - int(math.Ceil(served*share))
}

// onlyPool shows one pool of the store to a policy of one pool.
type onlyPool struct {
	*queues
	pool policy.Pool
}

// Of implements policy.Queues: the queues of the one pool, for every pool.
func (q onlyPool) Of(policy.Pool) []policy.Queue { return q.queues.Of(q.pool) }
