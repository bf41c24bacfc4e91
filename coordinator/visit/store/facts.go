package store

import (
	"strings"

	"leasehold/coordinator/visit"
	"leasehold/models"
)

// Facts are counters since the store was made.
type Facts struct {
	Eventful, Uneventful, Failed, NotFound, Lost, Ignored int64
	Asked, Granted, Urgent, Deferred                      int64
}

func (f *Facts) fields() map[string]*int64 {
	return map[string]*int64{
		"eventful": &f.Eventful, "uneventful": &f.Uneventful, "failed": &f.Failed, "not_found": &f.NotFound, "lost": &f.Lost,
		"ignored": &f.Ignored, "asked": &f.Asked, "granted": &f.Granted, "urgent": &f.Urgent, "deferred": &f.Deferred,
	}
}

func (s *Store) loadFacts() error {
	fields := s.state.facts.fields()
	return s.db.All("SELECT name, value FROM fact", nil, func(from scanner) error {
		var name string
		var value float64
		err := from.Scan(&name, &value)
		if kind, ok := strings.CutPrefix(name, factPosition); ok {
			s.state.position[models.OriginKind(kind)] = int64(value)
		} else if fields[name] != nil {
			*fields[name] = int64(value)
		}
		return err
	})
}

// saveFacts writes the counters and the queue positions as the transaction under way
// leaves them.
func (s *Store) saveFacts() error {
	s.settle()
	for name, n := range s.state.facts.fields() {
		if err := s.saveFact(name, float64(*n)); err != nil {
			return err
		}
	}
	for kind, at := range s.state.position {
		if err := s.saveFact(factPosition+string(kind), float64(at)); err != nil {
			return err
		}
	}
	return nil
}

// factPosition is followed by the kind of origin whose queue position a fact is.
const factPosition = "position "

func (s *Store) saveFact(name string, value float64) error {
	return s.db.Exec("INSERT INTO fact VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2", name, value)
}

// granted counts what a claim was asked for and gave.
func (s *Store) granted(asked int, picked []visit.Candidate) error {
	counts := s.counts()
	s.state.later(func(m *memory) {
		m.facts.Asked += int64(asked)
		m.facts.Granted += int64(len(picked))
		urgent := 0
		for _, c := range picked {
			name := poolName(c.Place.Pool)
			m.tally.picked[name]++
			if c.Refill {
				m.tally.refilled[name]++
			}
			if c.Place.Pool == poolUrgent {
				urgent++
			}
		}
		m.facts.Urgent += int64(urgent)
		shares, _ := s.policy.Shares(asked-urgent, counts)
		for _, share := range shares {
			m.tally.shares[poolNames(share.Pools)] += int64(share.N)
		}
	})
	return s.saveFacts()
}

// poolNames names the pools of a share, such as known+quiet+signal.
func poolNames(pools []visit.Pool) string {
	var names []string
	for _, p := range pools {
		names = append(names, poolName(p))
	}
	return strings.Join(names, "+")
}

// count counts an outcome; was is its origin before it.
func (s *Store) count(was row, o models.Outcome, e visit.Effect) {
	s.state.later(func(m *memory) {
		f := &m.facts
		switch {
		case e.Ignored == Lost, e.Ignored == GivenUp:
			f.Lost++
		case e.Ignored != "":
			f.Ignored++
		case e.Success && e.Changed:
			f.Eventful++
		case e.Success:
			f.Uneventful++
		case o.Status == models.NotFound:
			f.NotFound++
		default:
			f.Failed++
		}
		if e.Ignored != "" {
			return
		}
		m.tally.took.add(max(float64(o.Took), 0))
		m.tally.size.add(float64(max(o.Size, 0)))
		if e.First {
			m.tally.first.add(float64(max(o.At.Unix()-was.FirstSeen, 0)))
		}
	})
}

func poolName(p visit.Pool) string {
	switch p {
	case poolUrgent:
		return "save-now"
	case poolRest:
		return "resting"
	case poolFlight:
		return "in flight"
	case poolOff:
		return "disabled"
	}
	return p.String()
}
