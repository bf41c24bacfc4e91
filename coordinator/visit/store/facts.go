package store

import (
	"math"

	"leasehold/coordinator/visit"
	"leasehold/models"
)

// Facts are counters since the store was made.
type Facts struct {
	Eventful, Uneventful, Failed, NotFound, Lost, Ignored int64
	Asked, Granted, Urgent, Deferred                      int64
	Seconds, Bytes                                        float64 // of visits
	ByPool                                                map[string]int64
}

func (f *Facts) fields() map[string]*int64 {
	return map[string]*int64{
		"eventful": &f.Eventful, "uneventful": &f.Uneventful, "failed": &f.Failed, "not_found": &f.NotFound, "lost": &f.Lost,
		"ignored": &f.Ignored, "asked": &f.Asked, "granted": &f.Granted, "urgent": &f.Urgent, "deferred": &f.Deferred,
	}
}

func (s *Store) loadFacts() error {
	s.state.facts.ByPool = map[string]int64{}
	fields := s.state.facts.fields()
	return s.all("SELECT name, value FROM fact", nil, func(from scanner) error {
		var name string
		var value float64
		err := from.Scan(&name, &value)
		switch {
		case name == "position":
			s.state.position = int64(value)
		case name == "seconds":
			s.state.facts.Seconds = value
		case name == "bytes":
			s.state.facts.Bytes = value
		case fields[name] != nil:
			*fields[name] = int64(value)
		}
		return err
	})
}

// saveFacts writes the counters as they were when the transaction began, and the
// queue position: a crash may lose what the last transaction counted.
func (s *Store) saveFacts() error {
	for name, n := range s.state.facts.fields() {
		if err := s.saveFact(name, float64(*n)); err != nil {
			return err
		}
	}
	if s.state.position != visit.Never {
		if err := s.saveFact("position", float64(s.state.position)); err != nil {
			return err
		}
	}
	if err := s.saveFact("seconds", s.state.facts.Seconds); err != nil {
		return err
	}
	return s.saveFact("bytes", s.state.facts.Bytes)
}

func (s *Store) saveFact(name string, value float64) error {
	return s.exec("INSERT INTO fact VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2", name, value)
}

// granted counts what a claim was asked for and gave.
func (s *Store) granted(asked int, picked []visit.Candidate) error {
	s.state.later(func(m *memory) {
		m.facts.Asked += int64(asked)
		m.facts.Granted += int64(len(picked))
		for _, c := range picked {
			if c.Place.Pool == poolUrgent {
				m.facts.Urgent++
			}
			m.facts.ByPool[poolName(c.Place.Pool)]++
		}
	})
	return s.saveFacts()
}

// count counts an outcome.
func (s *Store) count(o models.Outcome, e visit.Effect) {
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
		if took := float64(o.Took); e.Ignored == "" && took > 0 && !math.IsInf(took, 0) {
			f.Seconds += took
		}
		if e.Ignored == "" && o.Size > 0 {
			f.Bytes += float64(o.Size)
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
