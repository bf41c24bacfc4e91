package visits

import (
	"math"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/protocol/visit/policy"
)

// cache holds counts of the rows of the file, so that a pick or the metrics need not count
// them.
type cache struct {
	queues    map[policy.Queue]int
	pools     map[policy.Pool]int
	groups    map[Group]int
	disabled  map[policy.Reason]int
	counts    policy.Counts
	sample    sample
	flights   map[string]int             // visits under way, by host
	underWay  map[string]int             // visits under way, by type
	claims    map[int64]row              // origins whose claims are not in their rows yet, by key
	claimKeys map[string]int64           // keys of claims, by id
	gapEnds   map[string]int64           // by busy host: when the gap after its last visit is over, in milliseconds
	refusals  map[string]refusal         // Retry-After, by host
	hosts     map[string]host            // that cannot be reached or ask for a gap
	gaps      map[string]int64           // Crawl-delay in milliseconds, by host or group
	programs  map[models.OriginKind]bool // registered types
	dates     map[int32]dates            // by lister
	allDates  policy.Dates               // of all listers
	unsaved   map[int32]bool             // listers whose dates differ from the file, until the transaction under way commits
	silences  policy.Silences            // what visits found after silences
	inFile    policy.Silences            // silences as they are in the file
	preferred map[int32]bool             // listers with a priority: first visits of the origins that they name come first
	position  map[models.OriginKind]int64
	facts     Facts
	served    map[policy.Pool]int64 // slots given out, by pool of the policy
	pace      policy.Pace           // of all visits
	saved     map[string]int64      // counters as they are in the file
	tally     *tally
	clock     int64 // when the last pick was

	updating bool // by the transaction under way
	stale    bool // a transaction that updated it has failed

	// While it is stale:
	loading bool  // a part of it was read again
	loaded  int64 // key of the last origin of that part
}

// dates belong to a lister.
type dates struct {
	policy.Dates
	listed int64
	active int // named by the last listing with a date since the one before it

	begun int64 // when the listing under way began
	next  int   // how many origins it has named; 0: none is under way

	empty string // the visit in which it named nothing, if it was the last one
}

// A Group of origins in the metrics.
type Group struct {
	Lister int32 // key of its origin; 0: none
	Kind   models.OriginKind
	Group  string // A, B1, B2, B3, disabled
	Never  bool   // never visited
}

func groupOf(r row) Group {
	return Group{r.Lister, r.kind, policy.Group(r.State).String(), r.LastVisit == policy.Never}
}

// add counts a row: n is 1 for one that the file has now, and -1 for one that it had. Each row
// that was added must be subtracted as it was, or the counts drift. Of the enabled origins, A
// counts those without a date of a change, and B the others. The caller has called update.
func (k *cache) add(r row, n int) {
	addCount(k.queues, r.waitsAt().Queue(), n)
	addCount(k.pools, r.waitsAt().Pool, n)
	addCount(k.groups, groupOf(r), n)
	if r.visit != "" {
		addCount(k.underWay, r.Type, n)
	}
	if r.visit != "" && r.host != "" {
		addCount(k.flights, r.host, n)
	}
	if n > 0 && r.claimed {
		k.claims[r.Key], k.claimKeys[r.id] = r, r.Key
	} else {
		delete(k.claims, r.Key)
		delete(k.claimKeys, r.id)
	}
	if n > 0 {
		k.sample.put(r.id, r.State)
	} else {
		delete(k.sample.states, r.id)
	}
	if r.kind.Info().Lister {
		delete(k.preferred, int32(r.Key))
		if n > 0 && r.priority > 0 {
			k.preferred[int32(r.Key)] = true
		}
	}
	switch {
	case !r.Enabled():
		addCount(k.disabled, r.Disabled, n)
	case r.LastUpdate == policy.Never:
		k.counts.A += n
	default:
		k.counts.B += n
	}
}

// setDates replaces the observations of a lister, corrects the sum of all by the difference, and
// marks them to be saved with the transaction.
func (k *cache) setDates(lister int32, d dates) {
	was := k.dates[lister].Dates
	k.allDates = k.allDates.Add(policy.Dates{Hits: -was.Hits, Misses: -was.Misses, False: -was.False, Days: -was.Days}).Add(d.Dates)
	k.dates[lister] = d
	k.unsaved[lister] = true
}

// move counts a row that has changed.
func (k *cache) move(was, is row) {
	k.add(was, -1)
	k.add(is, 1)
}

// addCount adds n to a count and removes a count of 0, so that the map has only keys in use.
func addCount[K comparable](counts map[K]int, key K, n int) {
	counts[key] += n
	if counts[key] == 0 {
		delete(counts, key)
	}
}

// partRows is how many origins loadPart reads. A transaction of PostgreSQL has a time limit, which the reading of all of
// some millions might exceed.
const partRows = 100_000

// load fills the cache from the file. After an error the cache stays stale.
func (s *Store) load(c *sqldb.Conn) error {
	s.cache.stale, s.cache.loading = true, false
	for s.cache.stale {
		if err := s.loadPart(c); err != nil {
			return err
		}
	}
	return nil
}

// loadPart reads the next part of a stale cache, which is stale no longer when the last part is read. Between two parts
// nothing changes the file, because each transaction that would reads the cache first. After an error the next call
// begins again.
func (s *Store) loadPart(c *sqldb.Conn) (err error) {
	k := &s.cache
	defer func() { k.loading = k.stale && err == nil }()
	if !k.loading {
		if err := s.loadCounts(c); err != nil {
			return err
		}
	}
	rows := 0
	err = c.All(selectRows+" WHERE key > ? ORDER BY key LIMIT ?", []any{k.loaded, s.part}, func(from sqldb.Row) error {
		r, err := scanRow(from)
		if err == nil {
			k.add(r, 1)
			k.noteRefusal(r, time.Now().Unix())
			rows, k.loaded = rows+1, r.Key
		}
		return err
	})
	k.stale = err != nil || rows == s.part
	return err
}

// loadCounts empties the cache and fills it from all tables but those of origins and claims. What only the process knows
// stays: the gaps of hosts, refusals, the tally and the clock.
func (s *Store) loadCounts(c *sqldb.Conn) error {
	was := s.cache
	s.cache = cache{
		queues: map[policy.Queue]int{}, pools: map[policy.Pool]int{}, groups: map[Group]int{}, disabled: map[policy.Reason]int{},
		flights: map[string]int{}, underWay: map[string]int{}, claims: map[int64]row{}, claimKeys: map[string]int64{}, gapEnds: was.gapEnds, refusals: was.refusals, hosts: map[string]host{}, programs: map[models.OriginKind]bool{}, dates: map[int32]dates{}, unsaved: map[int32]bool{}, preferred: map[int32]bool{},
		position: map[models.OriginKind]int64{}, served: map[policy.Pool]int64{}, saved: map[string]int64{}, sample: newSample(), tally: was.tally, clock: was.clock,
		stale: true, loaded: math.MinInt64,
	}
	k := &s.cache
	if k.tally == nil {
		k.gapEnds, k.refusals, k.tally = map[string]int64{}, map[string]refusal{}, newTally()
	}
	for _, load := range []func(*sqldb.Conn) error{s.loadCounters, k.loadHosts, k.loadPrograms, k.loadLearned} {
		if err := load(c); err != nil {
			return err
		}
	}
	k.sumGaps(s.policy.Hosts)
	return nil
}
