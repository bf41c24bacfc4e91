package engine

import (
	"time"

	"leasehold/shared/process/histogram"
)

// Measure selects durations that the engine measures: of the tuples of a space whose first
// field is Name, how long each is in the space or, if Held is set, how long a session holds
// it. Durations that began before the engine was opened are not measured.
type Measure struct {
	Space, Name string
	Held        bool
	Durations   *histogram.Histogram
}

// measure is a Measure with what it measures now.
type measure struct {
	Measure
	since map[int64]time.Duration // engine time, by ref
}

// isOn reports whether m measures the duration of an entry as it is now: of one in the space or, if Held is set, held
// by a session. A nil entry is gone.
func (m *measure) isOn(x *entry) bool {
	if x == nil || len(x.Tuple) == 0 || x.Tuple[0] != any(m.Name) {
		return false
	}
	return !m.Held || x.Hold != nil && x.Hold.Session != "" && !isTaken(x)
}

// measureStep begins the durations that a step of a transaction starts, and observes the ones that it ends. An
// unknown duration began before the engine was opened. The caller holds state.mu.
func (st *state) measureStep(s step) {
	for _, m := range st.measures[s.space()] {
		was, is := m.isOn(s.old), m.isOn(s.new)
		ref := s.entry().Ref
		switch {
		case !was && is:
			m.since[ref] = st.now()
		case was && !is:
			if began, known := m.since[ref]; known {
				m.Durations.Observe(st.now() - began)
				delete(m.since, ref)
			}
		}
	}
}

// measuresBySpace lists measures by the space that they measure, so that a step updates the measures of its space
// only.
func measuresBySpace(all []Measure) map[string][]*measure {
	by := map[string][]*measure{}
	for _, m := range all {
		by[m.Space] = append(by[m.Space], &measure{m, map[int64]time.Duration{}})
	}
	return by
}

// forgetMeasured forgets the durations that go on, because the journal was loaded again.
func (st *state) forgetMeasured() {
	for _, of := range st.measures {
		for _, m := range of {
			clear(m.since)
		}
	}
}
