package actions

import (
	"maps"
	"strings"
	"time"

	"leasehold/shared/process/histogram"
	"leasehold/shared/protocol/task"
)

const (
	// MaxLabels is how many actions have totals of their own: the first that have an event. Clients choose the names of
	// actions, and each costs a series of every metric.
	MaxLabels = 50
	// Other is the name under which the totals of all further actions are summed up.
	Other = "other"
)

// bounds are the upper bounds of the durations of tasks.
var bounds = []time.Duration{
	10 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second,
	time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 4 * time.Hour,
}

// Totals are the events of the tasks of an action since the coordinator started.
type Totals struct {
	Created int64
	Ended   map[string]int64                // by outcome: resolved, cancelled, dead
	Failed  map[string]int64                // attempts, by reason: task.Released, task.TimedOut, task.WorkerLost
	Wait    *histogram.Histogram            // from when a worker could claim a task to its claim
	Run     map[string]*histogram.Histogram // of attempts, by how they ended: resolved, cancelled, or a reason of Failed
	RunTime time.Duration                   // sum of Run
}

func newTotals() *Totals {
	return &Totals{Ended: map[string]int64{}, Failed: map[string]int64{}, Wait: histogram.New(bounds...), Run: map[string]*histogram.Histogram{}}
}

// totalsOf returns the totals to which an event of an action counts. The caller holds mu.
func (t *Tracker) totalsOf(action string) *Totals {
	known := t.totals[action]
	if known == nil && len(t.totals) >= MaxLabels { // Other is one more
		action = Other
		known = t.totals[Other]
	}
	if known == nil {
		known = newTotals()
		t.totals[strings.Clone(action)] = known
	}
	return known
}

// Label returns the name under which the totals of an action are: its own, or Other.
func (t *Tracker) Label(action string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.totalsOf(action) == t.totals[Other] {
		return Other
	}
	return action
}

func (s *Totals) add(e task.Event) {
	switch e.Kind {
	case task.EventCreated:
		s.Created++
	case task.EventStarted:
		s.Wait.Observe(e.Took)
	case task.EventFailed:
		s.Failed[e.Outcome]++
		s.addRun(e)
	case task.EventEnded:
		s.Ended[e.Outcome]++
		if e.Ran {
			s.addRun(e)
		}
	}
}

func (s *Totals) addRun(e task.Event) {
	if s.Run[e.Outcome] == nil {
		s.Run[e.Outcome] = histogram.New(bounds...)
	}
	s.Run[e.Outcome].Observe(e.Took)
	s.RunTime += e.Took
}

// Totals returns the totals by action, of at most MaxLabels actions and Other. They are copies, except the histograms,
// which go on.
func (t *Tracker) Totals() map[string]Totals {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make(map[string]Totals, len(t.totals))
	for action, s := range t.totals {
		c := *s
		c.Ended, c.Failed, c.Run = maps.Clone(s.Ended), maps.Clone(s.Failed), maps.Clone(s.Run)
		all[action] = c
	}
	return all
}
