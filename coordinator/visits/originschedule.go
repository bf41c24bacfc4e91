package visits

import (
	"context"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// Next is an origin that would be visited next, and why.
type Next struct {
	Origin models.Origin
	Pool   string
	Class  int           // of its rate after its last silence
	Rate   float64       // changes a day in the mean
	Value  float64       // 0 for one that was asked for or reported
	Habit  *policy.Habit // nil: it does not change regularly

	HostGroup string        // as in OriginSchedule
	HostGap   time.Duration // as in OriginSchedule

	Overflows, Missed int // as in policy.State

	MaxLag time.Duration // of one that is next because it was not visited for so long; else 0
}

// Next lists the n origins that a claim would take now, the best first. It takes none, but, as pick, brings back
// origins whose rest is over. Requested and
// reported ones have the value 0, because they do not compete by value.
func (s *Store) Next(ctx context.Context, now time.Time, n int) (list []Next, err error) {
	const op = "next visits"
	picked, _, err := s.pick(ctx, op, now, n)
	if err != nil {
		return nil, err
	}
	err = s.file.Read(ctx, op, func(c *sqldb.Conn) error {
		for _, x := range picked {
			r, ok, err := find(c, selectRows+" WHERE key = ?", x.Key)
			if err != nil {
				return err
			}
			if !ok { // removed meanwhile
				continue
			}
			if x.Place.Pool == poolUrgent || x.Place.Pool == poolTold {
				x.Value = 0
			}
			var lag time.Duration
			if x.Late {
				lag = s.rulesOf(r.kind).MaxLag
			}
			group, gap := s.explainPace(r.host)
			list = append(list, Next{
				Origin: r.origin(), Pool: poolName(x.Place.Pool), Class: x.Place.RateClass(), Rate: s.rulesOf(r.kind).Rate(r.State), Value: x.Value,
				Habit: habitOf(r), HostGroup: group, HostGap: gap, Overflows: r.Overflows, Missed: r.Missed, MaxLag: lag,
			})
		}
		return nil
	})
	return list, err
}

// OriginSchedule is everything known of when an origin is visited. Its Target is visit.Never under a policy
// without targets.
type OriginSchedule struct {
	policy.State
	Origin   models.Origin
	Pool     string
	Place    policy.Place
	Value    float64           // at the time of the call, if it waits
	Rate     float64           // changes a day in the mean; its class is that after its last silence
	Why      string            // it is not visited now; policy.Eligible
	Until    int64             // when its rest is over
	Visit    string            // under way
	Urgent   bool              // a visit was asked for
	Hub      *Subscription     // at the WebSub hub of its feed; nil: there is none
	Skip     models.Skipped    // when its feed asks not to be read
	Hours    models.Hours      // in which it may be visited; empty: at any time
	Listed   string            // the id of the lister that named it
	ForkOf   string            // URI, if a lister gave it
	Metadata map[string]string // that a lister gave
	Habit    *policy.Habit     // nil: it does not change regularly

	// How its host is visited.
	HostGroup string        // empty: it shares its politeness with no other host
	HostGap   time.Duration // between the end of a visit and the next, if robots.txt asks for one

	History []PastVisit // the latest first
}

// habitOf returns the habit of an origin, or nil if it has none.
func habitOf(r row) *policy.Habit {
	if h, ok := r.Habit(); ok {
		return &h
	}
	return nil
}

// PastVisit is a visit with an outcome.
type PastVisit struct {
	At      time.Time
	Status  models.Status
	Changed bool
	Changes float64
	Took    models.Seconds
	Size    int64
	Error   string
}

// Schedule returns when an origin is visited, and why. It fails with fault.ErrNotFound for an unknown origin. It
// reads in a write transaction, because only such a transaction may read the cache. The reason is a visit under
// way, else a rest, else the wait for its host. Of a requested origin the rest is only a Retry-After or its hours,
// and Urgent tells that it was requested, also while it waits for its host.
func (s *Store) Schedule(ctx context.Context, now time.Time, id string) (o OriginSchedule, err error) {
	err = s.write(ctx, "schedule of "+id, func() error {
		r, err := read(s.db, id)
		if err != nil {
			return err
		}
		o = s.scheduleOf(r, now)
		s.addHost(&o, r, now)
		if r.visit != "" {
			o.Why = policy.InFlight
		}
		return s.addStored(&o, r)
	})
	return o, err
}

// scheduleOf returns what a row and the policy tell of an origin.
func (s *Store) scheduleOf(r row, now time.Time) OriginSchedule {
	until, why := s.restOf(r, now.Unix())
	o := OriginSchedule{
		State: r.State, Origin: r.origin(), Pool: poolName(r.waitsAt().Pool), Place: r.waitsAt(), Rate: s.rulesOf(r.kind).Rate(r.State),
		Why: why, Until: until, Hours: r.hours, Skip: r.skip, Visit: r.visit, Urgent: r.urgent != 0, Habit: habitOf(r),
	}
	if !r.claimed && r.place.Pool < poolTold { // only the policy's own pools have a value
		o.Value = s.policy.Worth(r.place, s.quality(r.place.Lister), now.Unix())
	}
	if !s.policy.UsesTargets(r.Type) {
		o.Target = policy.Never
	}
	return o
}

// addHost adds what the host of an origin demands: its pace, and the wait for it of an origin that is eligible.
func (s *Store) addHost(o *OriginSchedule, r row, now time.Time) {
	o.HostGroup, o.HostGap = s.explainPace(r.host)
	w := s.hostsFor(now.UnixMilli(), 1).waitOf(r.host)
	if r.host == "" || o.Why != policy.Eligible || w.why == "" {
		return
	}
	o.Why, o.Until = w.why, policy.Never
	if w.until > 0 {
		o.Until = (w.until + 999) / 1000
	}
}

// addStored adds what other tables have about an origin: its description, its subscription, its lister and its
// past visits.
func (s *Store) addStored(o *OriginSchedule, r row) (err error) {
	if o.ForkOf, o.Metadata, err = s.described(r.Key); err != nil {
		return err
	}
	if o.Hub, err = s.subscriptionFor(r.id); err != nil {
		return err
	}
	if r.Lister != 0 {
		if _, err := s.db.One("SELECT id FROM schedule WHERE key = ?", []any{r.Lister}, sqldb.Into(&o.Listed)); err != nil {
			return err
		}
	}
	return s.db.All("SELECT at, status, changed, changes, took, size, error FROM outcome WHERE origin = ? ORDER BY at DESC", []any{r.Key},
		func(from sqldb.Row) error {
			var p PastVisit
			var at int64
			err := from.Scan(&at, &p.Status, &p.Changed, &p.Changes, &p.Took, &p.Size, &p.Error)
			p.At = time.Unix(at, 0).UTC()
			o.History = append(o.History, p)
			return err
		})
}

// markedAtOnce is of how many origins one query of MarkDisabled reads.
const markedAtOnce = 200

var selectDisabled = "SELECT id, disabled FROM schedule WHERE disabled <> '' AND id IN (?" + strings.Repeat(", ?", markedAtOnce-1) + ")"

// MarkDisabled sets Disabled of those of the origins that are disabled, with a query for each 200 of them.
func (s *Store) MarkDisabled(ctx context.Context, origins []models.Origin) error {
	at := make(map[string]int, len(origins))
	for n, o := range origins {
		at[o.ID] = n
	}
	return s.file.Read(ctx, "disabled origins", func(c *sqldb.Conn) error {
		for some := range slices.Chunk(origins, markedAtOnce) {
			ids := make([]any, markedAtOnce)
			for n := range ids {
				ids[n] = some[min(n, len(some)-1)].ID // the last one fills the rest, so that there is one statement
			}
			err := c.All(selectDisabled, ids, func(from sqldb.Row) error {
				var id, reason string
				if err := from.Scan(&id, &reason); err != nil {
					return err
				}
				origins[at[id]].Disabled = reason
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Due reports whether there is something to wait for: an origin may be visited now, or when the gap after the
// last visit of its host is over, or is being visited. Callers that run until all visits are done end when it is
// false.
func (s *Store) Due(ctx context.Context, now time.Time) (due bool, err error) {
	err = s.write(ctx, "due visits", func() error {
		picked, busy, err := s.choose(now, 1)
		due = len(picked) > 0 || s.cache.pools[poolFlight] > 0 || busy.paced
		if err != nil || due {
			return err
		}
		due, err = s.db.One("SELECT key FROM schedule WHERE front = 1 AND pool = ? AND queue = 0 AND class = 0 AND ref <= ? LIMIT 1",
			[]any{poolRest, now.Unix()}, sqldb.Into(new(int64))) // which origin does not matter
		return err
	})
	return due, err
}

// Wake returns when the next origin may be visited, because its rest or the wait for its host is over, and not
// before now. It is a zero time if neither is the case for any.
func (s *Store) Wake(ctx context.Context, now time.Time) (at time.Time, err error) {
	err = s.write(ctx, "next visit", func() error {
		picked, busy, err := s.choose(now, 1)
		if err != nil {
			return err
		}
		if len(picked) > 0 {
			at = now
			return nil
		}
		if busy.wake != 0 {
			at = time.UnixMilli(busy.wake)
		}
		var ref int64
		ok, err := s.db.One("SELECT ref FROM schedule WHERE front = 1 AND pool = ? AND queue = 0 AND class = 0 ORDER BY ref LIMIT 1",
			[]any{poolRest}, sqldb.Into(&ref))
		if rested := time.Unix(ref, 0); ok && (at.IsZero() || rested.Before(at)) {
			at = rested
		}
		return err
	})
	return at, err
}
