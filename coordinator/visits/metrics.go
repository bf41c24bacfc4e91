package visits

import (
	"context"
	"maps"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// Metrics are figures about all origins. Reading them costs the number of groups and
// queues, and a sample of at most 4,096 origins, not the number of origins.
type Metrics struct {
	Facts
	Groups   map[Group]int
	Pools    map[string]int
	Disabled map[policy.Reason]int
	Rates    [policy.Classes]int         // origins that wait, by the class of their rate
	Position map[models.OriginKind]int64 // the largest target handed out, of kinds with targets; none while there was none
	Drift    map[models.OriginKind]int64 // seconds from the position to the clock
	Active   map[int32]int               // by lister: dated since the listing before its last

	// Slots since the start: by the pools that they were for, by the pool that got
	// them, and how many of these another pool had left.
	Shares, Picked, Refilled map[string]int64

	// Since the start: seconds from when an origin was first seen to its first
	// outcome; seconds and bytes of visits.
	FirstVisit, Took, Size Distribution

	// Of the sample, which is all origins while they are at most 4,096. Behind and
	// Lag are seconds, of origins with a date after their last success: from that
	// success to the date, and from the date until now. Fresh is the mean chance
	// that nothing of an enabled origin is unseen; NaN if there is none.
	Behind, Lag Distribution
	Fresh       float64

	OldestNew *int64 // seconds since the oldest enabled origin without an outcome was seen first; nil: there is none
}

// Metrics returns the metrics. The maps are copies. It reads in a write transaction, because only that may read
// the cache.
func (s *Store) Metrics(ctx context.Context, now time.Time) (m Metrics, err error) {
	err = s.write(ctx, "metrics of visits", func() error {
		k := &s.cache
		m = Metrics{
			Facts: k.facts, Groups: maps.Clone(k.groups), Disabled: maps.Clone(k.disabled), Position: maps.Clone(k.position),
			Pools: map[string]int{}, Drift: map[models.OriginKind]int64{}, Active: map[int32]int{},
			Shares: maps.Clone(k.tally.shares), Picked: maps.Clone(k.tally.picked), Refilled: maps.Clone(k.tally.refilled),
			FirstVisit: k.tally.first.clone(), Took: k.tally.took.clone(), Size: k.tally.size.clone(),
		}
		for p, n := range k.pools {
			m.Pools[poolName(p)] += n
		}
		for q, n := range k.queues {
			if q.Pool < poolTold {
				m.Rates[q.Class%policy.Classes] += n // the class of a fork is the class of its rate plus Classes
			}
		}
		maps.DeleteFunc(m.Position, func(kind models.OriginKind, _ int64) bool { return !s.policy.UsesTargets(string(kind)) })
		for kind, at := range m.Position {
			m.Drift[kind] = now.Unix() - at
		}
		for lister, d := range k.dates {
			m.Active[lister] = d.active
		}
		s.addClocked(&m, now.Unix())
		var oldest int64
		found, err := s.db.One(oldestNew, nil, sqldb.Into(&oldest))
		if found {
			age := max(now.Unix()-oldest, 0)
			m.OldestNew = &age
		}
		return err
	})
	return m, err
}

// Facts returns the counters. It reads in a write transaction, because only that may read the cache.
func (s *Store) Facts(ctx context.Context) (f Facts, err error) {
	err = s.write(ctx, "counters of visits", func() error {
		f = s.cache.facts
		return nil
	})
	return f, err
}

// oldestNew is read from an index of its own.
const oldestNew = `SELECT first_seen FROM schedule WHERE last_visit IS NULL AND disabled = '' ORDER BY first_seen LIMIT 1`

// addClocked fills in the metrics that change with the clock alone, computed from the sample
// because the counts of the cache change only with transactions.
func (s *Store) addClocked(m *Metrics, now int64) {
	p := &s.cache.sample
	signalled := func(x policy.State) bool { return policy.Group(x) == policy.PoolB2 }
	m.Behind = p.distribution(ageBounds, func(x policy.State) (float64, bool) { return float64(x.LastUpdate - x.LastSuccess), signalled(x) })
	m.Lag = p.distribution(ageBounds, func(x policy.State) (float64, bool) { return float64(max(now-x.LastUpdate, 0)), signalled(x) })
	fresh := p.distribution(nil, func(x policy.State) (float64, bool) {
		return policy.Value{Rules: s.policy.Rules(x.Type)}.Fresh(x, s.quality(x.DatedBy()), now), x.Enabled()
	})
	m.Fresh = fresh.Sum / float64(fresh.Count)
}

// tally holds counts since the start; it is not stored.
type tally struct {
	shares, picked, refilled map[string]int64
	first, took, size        Distribution
}

func newTally() *tally {
	return &tally{
		shares: map[string]int64{}, picked: map[string]int64{}, refilled: map[string]int64{},
		first: newDistribution(ageBounds), took: newDistribution(tookBounds), size: newDistribution(sizeBounds),
	}
}
