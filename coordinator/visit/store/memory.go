package store

import (
	"errors"
	"fmt"
	"time"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/sqlfile"
)

// memory is what is kept beside the file so that nothing has to be counted.
type memory struct {
	queues   map[visit.Queue]int
	pools    map[visit.Pool]int
	groups   map[Group]int
	disabled map[visit.Reason]int
	counts   visit.Counts
	sample   sample
	flights  map[string]int   // visits under way, by host
	last     map[string]int64 // when a host was last claimed, while that matters
	patience map[string]int64 // until when a host wants to be left alone
	dates    map[int32]dates  // by lister
	priority map[int32]bool   // listers whose first visits come first
	position map[models.OriginKind]int64
	facts    Facts
	tally    *tally
	clock    int64 // when the last pick was
	pending  pending
	settled  bool // the transaction under way has moved what is above already
}

// pending is what a transaction will have changed.
type pending struct{ moves []func(*memory) }

func (m *memory) later(f func(*memory)) { m.pending.moves = append(m.pending.moves, f) }

func (m *memory) commit() {
	for _, f := range m.pending.moves {
		f(m)
	}
	m.pending = pending{}
}

// dates are what is known of a lister.
type dates struct {
	visit.Dates
	listed int64
	active int // named by the last listing with a date since the one before it

	begun int64 // when the listing under way began
	next  int   // how many origins it has named; 0: none is under way
}

// A Group of origins in the metrics.
type Group struct {
	Lister int32 // key of its origin; 0: none
	Kind   models.OriginKind
	Group  string // A, B1, B2, B3, disabled
	Never  bool   // never visited
}

func groupOf(r row) Group {
	return Group{r.Lister, r.kind, visit.Group(r.State).String(), r.LastVisit == visit.Never}
}

func (m *memory) add(r row, n int) {
	bump(m.queues, r.place.Queue(), n)
	bump(m.pools, r.place.Pool, n)
	bump(m.groups, groupOf(r), n)
	if r.visit != "" && r.host != "" {
		bump(m.flights, r.host, n)
	}
	if n > 0 {
		m.sample.put(r.id, r.State)
	} else {
		delete(m.sample.states, r.id)
	}
	switch {
	case !r.Enabled():
		bump(m.disabled, r.Disabled, n)
	case r.LastUpdate == visit.Never:
		m.counts.A += n
	default:
		m.counts.B += n
	}
}

func bump[K comparable](counts map[K]int, key K, n int) {
	counts[key] += n
	if counts[key] == 0 {
		delete(counts, key)
	}
}

func (m *memory) move(was, is row) {
	m.later(func(m *memory) {
		m.add(was, -1)
		m.add(is, 1)
	})
}

func (m *memory) appear(r row)    { m.later(func(m *memory) { m.add(r, 1) }) }
func (m *memory) disappear(r row) { m.later(func(m *memory) { m.add(r, -1) }) }

// load counts what is in the file, once.
func (s *Store) load() error {
	was := s.state
	s.state = memory{
		queues: map[visit.Queue]int{}, pools: map[visit.Pool]int{}, groups: map[Group]int{}, disabled: map[visit.Reason]int{},
		flights: map[string]int{}, last: map[string]int64{}, patience: map[string]int64{}, dates: map[int32]dates{},
		priority: was.priority, position: map[models.OriginKind]int64{}, sample: newSample(), tally: was.tally,
	}
	if was.tally == nil {
		s.state.priority, s.state.tally = map[int32]bool{}, newTally()
	}
	if err := s.loadFacts(); err != nil {
		return err
	}
	err := s.db.All("SELECT key, listed, hits, misses, wrong, active, begun, next FROM lister", nil, func(from scanner) error {
		var key int32
		var d dates
		err := from.Scan(&key, &d.listed, &d.Hits, &d.Misses, &d.False, &d.active, &d.begun, &d.next)
		s.state.dates[key] = d
		return err
	})
	if err != nil {
		return err
	}
	if err := s.replace(); err != nil {
		return err
	}
	return s.db.All("SELECT "+columns+" FROM origin", nil, func(from scanner) error {
		r, err := scanRow(from)
		if err == nil {
			s.state.add(r, 1)
		}
		return err
	})
}

// placing counts how often what decides a place was changed in the program.
const placing = 2

// placedBy says which policy and rules placed the origins.
func (s *Store) placedBy() string {
	return fmt.Sprintf("placed by %s %d %+v", s.policy.Name(), placing, s.rules)
}

// replace places all origins anew if other rules placed them.
func (s *Store) replace() error {
	now, name := time.Now().Unix(), s.placedBy()
	known, err := s.db.One("SELECT value FROM fact WHERE name = ?", []any{name}, sqlfile.Into(new(float64)))
	if err != nil {
		return err
	}
	return s.db.Transaction(func() error {
		defer func() { s.state.pending = pending{} }() // counted when all are placed
		if known {
			return s.mend(now)
		}
		err := errors.Join(s.again("", now), s.db.Exec("DELETE FROM fact WHERE name LIKE 'placed by %'"))
		if err != nil {
			return err
		}
		return s.db.Exec("INSERT INTO fact VALUES (?, 1)", name)
	})
}

// mend finds origins that rest for longer than any rule says, because the clock
// was wrong when they were scheduled, and lets them rest from now.
func (s *Store) mend(now int64) error {
	r := s.rules
	longest := max(r.LostAfter, r.Cooldown, r.FailedCooldown, r.NotFoundCooldown, maxPatience*time.Second)
	return s.again(fmt.Sprintf("WHERE pool IN (%d, %d) AND ref > %d", poolRest, poolFlight, now+int64(longest.Seconds())), now)
}

// again places origins anew, and takes back times that have not come yet.
func (s *Store) again(where string, now int64) error {
	var all []row
	err := s.db.All("SELECT "+columns+" FROM origin "+where, nil, func(from scanner) error {
		r, err := scanRow(from)
		all = append(all, r)
		return err
	})
	for _, was := range all {
		r := was
		for _, t := range []*int64{&r.LastScheduled, &r.LastVisit, &r.LastSuccess, &r.LastUpdate, &r.LastSeen} {
			*t = min(*t, now)
		}
		err = errors.Join(err, s.write(was, r, now))
	}
	return err
}
