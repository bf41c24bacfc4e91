package visits

import (
	"strconv"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// Facts are counters since the store was made.
type Facts struct {
	Eventful, Uneventful, Failed, NotFound, Lost, Ignored int64
	Asked, Granted, Urgent, Deferred                      int64

	Overflows, Missed int64 // visits that found that a document had probably lost items unseen; these items
}

// fields returns a pointer to each counter by its name in the table counter.
func (f *Facts) fields() map[string]*int64 {
	return map[string]*int64{
		"eventful": &f.Eventful, "uneventful": &f.Uneventful, "failed": &f.Failed, "not_found": &f.NotFound, "lost": &f.Lost,
		"ignored": &f.Ignored, "asked": &f.Asked, "granted": &f.Granted, "urgent": &f.Urgent, "deferred": &f.Deferred,
		"overflows": &f.Overflows, "missed": &f.Missed,
	}
}

// positionPrefix is followed by the kind of origin whose queue position a counter is.
const positionPrefix = "position "

// servedPrefix is followed by the number of a pool of the policy whose slots a counter has.
const servedPrefix = "served "

// The counters of cache.pace: visits a day, times a thousand, and when the last ones were granted.
const (
	paceName   = "visits in 1000 days"
	paceAtName = "last visits granted"
)

// loadCounters reads the counters, the queue positions, the slots of pools and the pace into the cache. A counter
// that this version does not know is kept in the file. saved keeps what the file has, so that saveCounters writes only
// changes.
func (s *Store) loadCounters(c *sqldb.Conn) error {
	fields := s.cache.facts.fields()
	return c.All("SELECT name, value FROM counter", nil, func(from sqldb.Row) error {
		var name string
		var value int64
		err := from.Scan(&name, &value)
		s.cache.saved[name] = value
		if kind, ok := strings.CutPrefix(name, positionPrefix); ok {
			s.cache.position[models.OriginKind(kind)] = value
		} else if number, ok := strings.CutPrefix(name, servedPrefix); ok {
			pool, err := strconv.ParseUint(number, 10, 8)
			s.cache.served[policy.Pool(pool)] = value
			return err
		} else if fields[name] != nil {
			*fields[name] = value
		} else if name == paceName {
			s.cache.pace.PerDay = float64(value) / 1000
		} else if name == paceAtName {
			s.cache.pace.At = value
		}
		return err
	})
}

// saveCounters writes the counters, queue positions, slots of pools and the pace that differ from the file. It runs
// before the commit of each transaction that changes the cache (update). After an error the cache is stale, so saved
// need not be right.
func (s *Store) saveCounters() error {
	k := &s.cache
	values := map[string]int64{paceName: int64(k.pace.PerDay * 1000), paceAtName: k.pace.At}
	for name, n := range k.facts.fields() {
		values[name] = *n
	}
	for kind, at := range k.position {
		values[positionPrefix+string(kind)] = at
	}
	for pool, n := range k.served {
		values[servedPrefix+strconv.Itoa(int(pool))] = n
	}
	for name, value := range values {
		if was, ok := k.saved[name]; ok && was == value {
			continue
		}
		if err := s.db.Exec("INSERT INTO counter (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value); err != nil {
			return err
		}
		k.saved[name] = value
	}
	return nil
}

// countGranted counts how many visits a claim at a time was asked for, which it gave, and how many waited
// for their hosts. The shares are those that the policy had before the pick; requested and
// reported visits have none.
func (s *Store) countGranted(now time.Time, asked int, picked []policy.Candidate, busy *hosts) {
	counts, k := s.counts(), s.update()
	k.facts.Asked += int64(asked)
	k.facts.Granted += int64(len(picked))
	k.facts.Deferred += busy.deferred
	k.pace = k.pace.Add(len(picked), now.Unix())
	urgent, told := 0, 0
	for _, c := range picked {
		name := poolName(c.Place.Pool)
		k.tally.picked[name]++
		if c.Refill {
			k.tally.refilled[name]++
		}
		if c.Place.Pool == poolUrgent {
			urgent++
		} else {
			k.served[c.Place.Pool]++
		}
		if c.Place.Pool == poolTold {
			told++
		}
	}
	k.facts.Urgent += int64(urgent)
	shares, _ := s.policy.Shares(asked-urgent-told, counts) // visits of the refill are in tally.refilled
	for _, share := range shares {
		if share.Pools[0] == policy.PoolFixed {
			continue // fixed intervals leave most of their share to the others
		}
		k.tally.shares[poolNames(share.Pools)] += int64(share.N)
	}
}

// poolNames names the pools of a share, such as known+quiet+signal.
func poolNames(pools []policy.Pool) string {
	var names []string
	for _, p := range pools {
		names = append(names, poolName(p))
	}
	return strings.Join(names, "+")
}

// countOutcome counts an outcome by its effect; was is its origin before it. An ignored one is
// not in the distributions of duration, size and time to the first visit.
func (s *Store) countOutcome(was row, o models.Outcome, e policy.Effect) {
	k := s.update()
	switch {
	case e.Ignored == Lost, e.Ignored == GivenUp:
		k.facts.Lost++
	case e.Ignored != "":
		k.facts.Ignored++
	case e.Success && e.Changed:
		k.facts.Eventful++
	case e.Success:
		k.facts.Uneventful++
	case o.Status == models.NotFound:
		k.facts.NotFound++
	default:
		k.facts.Failed++
	}
	if e.Ignored != "" {
		return
	}
	if e.Missed > 0 {
		k.facts.Overflows++
		k.facts.Missed += int64(e.Missed)
	}
	k.tally.took.add(max(float64(o.Took), 0))
	k.tally.size.add(float64(max(o.Size, 0)))
	if e.First {
		k.tally.first.add(float64(max(o.At.Unix()-was.FirstSeen, 0)))
	}
}

// poolName returns the name of a pool of the policy or of the store, as metrics have it.
func poolName(p policy.Pool) string {
	switch p {
	case poolUrgent:
		return policy.SaveNow
	case poolTold:
		return policy.Told
	case poolRest:
		return policy.Resting
	case poolFlight:
		return policy.InFlight
	case poolProgram:
		return "program"
	case poolOff:
		return policy.Disabled
	}
	return p.String()
}
