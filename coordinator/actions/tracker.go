package actions

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/shared/protocol/task"
)

const (
	// maxRuns is of how many attempts of an action the durations are kept.
	maxRuns = 128
	// slotTime and slots divide the minute of the rates.
	slotTime = 5 * time.Second
	slots    = int64(time.Minute / slotTime)
)

// Tracker counts the events of tasks, of at most MaxActions actions: another one replaces the one that had no event for
// the longest time. It may be used concurrently.
type Tracker struct {
	mu      sync.Mutex // guards the fields below
	actions map[string]*record
	totals  map[string]*Totals // of at most MaxLabels actions, and of Other

	lost atomic.Int64 // sessions
}

// record has the latest events of one action.
type record struct {
	latest time.Time // when it had an event
	slots  [slots]slot
	runs   []time.Duration // of the latest attempts that resolved their tasks, at most maxRuns
	next   int             // the oldest of runs, if there are maxRuns
}

// slot has the events of slotTime.
type slot struct {
	number                 int64 // of slotTimes since 1970
	created, ended, failed int64
}

// NewTracker returns a tracker without events.
func NewTracker() *Tracker {
	return &Tracker{actions: map[string]*record{}, totals: map[string]*Totals{}}
}

// Note counts those of the notes that are events of tasks. It is fast, because the engine calls it while it is locked
// (engine.Config.Noted).
func (t *Tracker) Note(notes []any) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range notes {
		if e, ok := n.(task.Event); ok {
			t.recordOf(e.Action, now).add(e, now)
			t.totalsOf(e.Action).add(e)
		}
	}
}

// SessionLost counts a session that was lost; it is for engine.Config.SessionLost.
func (t *Tracker) SessionLost() { t.lost.Add(1) }

// SessionsLost returns how many sessions were lost since the coordinator started.
func (t *Tracker) SessionsLost() int64 { return t.lost.Load() }

// recordOf returns the record of an action, which may take the place of another one. The caller holds mu.
func (t *Tracker) recordOf(action string, now time.Time) *record {
	r := t.actions[action]
	if r == nil {
		if len(t.actions) >= MaxActions {
			t.dropOldest()
		}
		r = &record{}
		t.actions[action] = r
	}
	r.latest = now
	return r
}

// dropOldest removes the record of the action that had no event for the longest time.
func (t *Tracker) dropOldest() {
	oldest := ""
	for action, r := range t.actions {
		if oldest == "" || r.latest.Before(t.actions[oldest].latest) {
			oldest = action
		}
	}
	delete(t.actions, oldest)
}

func (r *record) add(e task.Event, now time.Time) {
	number := now.UnixNano() / int64(slotTime)
	s := &r.slots[number%slots]
	if s.number != number {
		*s = slot{number: number}
	}
	switch e.Kind {
	case task.EventCreated:
		s.created++
	case task.EventFailed:
		s.failed++
	case task.EventEnded:
		s.ended++
		if e.Outcome == string(task.Resolved) && e.Ran {
			r.addRun(e.Took)
		}
	}
}

func (r *record) addRun(took time.Duration) {
	if len(r.runs) < maxRuns {
		r.runs = append(r.runs, took)
		return
	}
	r.runs[r.next] = took
	r.next = (r.next + 1) % maxRuns
}

// names returns the actions that had an event in the last minute.
func (t *Tracker) names() (all []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for action, r := range t.actions {
		if now.Sub(r.latest) < time.Minute {
			all = append(all, action)
		}
	}
	return all
}

// of returns the rates and the runs of an action.
func (t *Tracker) of(action string) (rates Rates, runs Runs) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.actions[action]
	if r == nil {
		return rates, runs
	}
	now := time.Now().UnixNano() / int64(slotTime)
	for _, s := range r.slots {
		if now-s.number < slots {
			rates.Created += s.created
			rates.Ended += s.ended
			rates.Failed += s.failed
		}
	}
	if n := len(r.runs); n > 0 {
		sorted := slices.Sorted(slices.Values(r.runs))
		var sum time.Duration
		for _, took := range sorted {
			sum += took / time.Duration(n)
		}
		runs = Runs{n, sorted[n/2], sorted[min(n*95/100, n-1)], sum}
	}
	return rates, runs
}
