// Package actions computes figures of the tasks of each action: how many there are in each state, who serves it,
// how long the oldest has waited, how many are created and end in a minute, and how long attempts run. The page, the
// API, the metrics and the attention items all read it, so that they agree.
//
// A Tracker counts the events of tasks as the engine notes them. A Source adds what the spaces know, reads it at most
// once a second, and shares the answer. Neither visits tasks.
//
// Counts of events are since the coordinator started; the package stores nothing.
package actions

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

// MaxActions is how many actions a Snapshot has.
const MaxActions = task.MaxActions

// Action has the figures of one action.
type Action struct {
	task.ActionFacts
	Pause task.PausedAction // zero: it is not paused
	Rates
	Runs
}

// IsPaused reports whether no task of the action is claimed now.
func (a Action) IsPaused() bool { return a.Pause.Action != "" }

// Rates are how many tasks were created, ended (resolved, cancelled or dead) and had a failed attempt in the last
// minute.
type Rates struct{ Created, Ended, Failed int64 }

// Runs are how long the latest attempts ran that resolved their tasks: at most the latest maxRuns.
type Runs struct {
	Number            int           // of attempts; 0: the others are 0 too
	Median, P95, Mean time.Duration // from the claim to the end
}

// Snapshot is the state of all actions at one moment. Its slice is shared and must not be changed.
type Snapshot struct {
	At      time.Time
	Actions []Action // by name
	Total   int      // number of actions, which may be more than MaxActions
}

// Of returns the action with a name; the zero Action with that name if nothing is known of it.
func (s Snapshot) Of(action string) Action {
	at, ok := slices.BinarySearchFunc(s.Actions, action, func(a Action, name string) int { return cmp.Compare(a.Action, name) })
	if !ok {
		return Action{ActionFacts: task.ActionFacts{Action: action, Counts: task.Counts{}}}
	}
	return s.Actions[at]
}

// maxAge is how old a snapshot may be to be shared.
const maxAge = time.Second

// Source reads snapshots. It may be used concurrently.
type Source struct {
	tasks   task.Client
	tracker *Tracker

	turn   chan struct{} // capacity 1; its token may read
	mu     sync.Mutex    // guards latest
	latest Snapshot
}

// NewSource returns a source over a session of the coordinator's own, and the tracker of its engine; without one (nil)
// rates and runs are 0.
func NewSource(repo space.Repository, t *Tracker) *Source {
	if t == nil {
		t = NewTracker()
	}
	return &Source{tasks: task.Client{Repo: repo}, tracker: t, turn: make(chan struct{}, 1)}
}

// Tracker returns the tracker of the source.
func (s *Source) Tracker() *Tracker { return s.tracker }

// Read returns a snapshot that is at most a second old. Callers at the same time share one reading. It fails as the
// session does, and with the error of ctx.
func (s *Source) Read(ctx context.Context) (Snapshot, error) {
	if latest, ok := s.fresh(); ok {
		return latest, nil
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return Snapshot{}, ctx.Err()
	}
	defer func() { <-s.turn }()
	if latest, ok := s.fresh(); ok {
		return latest, nil
	}
	read, err := s.ReadNow(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = read
	return read, nil
}

func (s *Source) fresh() (Snapshot, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest, time.Since(s.latest.At) < maxAge
}

// ReadNow is Read without sharing: what happened before the call is in the snapshot.
func (s *Source) ReadNow(ctx context.Context) (Snapshot, error) {
	all, total, err := s.tasks.Overview(ctx, s.tracker.names()...)
	if err != nil {
		return Snapshot{}, err
	}
	shown, err := s.complete(ctx, all)
	return Snapshot{At: time.Now(), Actions: shown, Total: total}, err
}

// ReadOne returns the figures of one action now. An action without tasks is not an error, because actions are not
// registered.
func (s *Source) ReadOne(ctx context.Context, action string) (Action, error) {
	facts, err := s.tasks.Facts(ctx, action)
	if err != nil {
		return Action{}, err
	}
	all, err := s.complete(ctx, facts)
	if err != nil || len(all) != 1 {
		return Action{}, err
	}
	return all[0], nil
}

// complete adds pauses, rates and runs to facts.
func (s *Source) complete(ctx context.Context, facts []task.ActionFacts) ([]Action, error) {
	paused, err := s.tasks.PausedActions(ctx)
	if err != nil {
		return nil, err
	}
	pauses := map[string]task.PausedAction{}
	for _, p := range paused {
		pauses[p.Action] = p
	}
	all := make([]Action, len(facts))
	for n, f := range facts {
		all[n] = Action{ActionFacts: f, Pause: pauses[f.Action]}
		all[n].Rates, all[n].Runs = s.tracker.of(f.Action)
	}
	return all, nil
}
