package autoscale

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"leasehold/shared/api/types"
	"leasehold/shared/process/wording"
)

// A Coordinator is asked for the queue and the workers of an action; a client.Client is one.
type Coordinator interface {
	// ActionFor returns the figures of an action, with the slots that it needs so that its tasks wait for at most target.
	ActionFor(ctx context.Context, action string, target time.Duration) (types.Action, error)
	// Working returns what managers and workers do.
	Working(ctx context.Context) ([]types.Session, error)
	// Drain has a worker finish its tasks and end.
	Drain(ctx context.Context, session string) error
}

// Options are what Run needs to know.
type Options struct {
	Action       string
	Target       time.Duration // for which a task shall wait at most
	Slots        int           // of a worker for the action; 0: what those that are connected have, or 1
	Interval     time.Duration // between two looks
	DrainTimeout time.Duration // for which drained sessions are waited for before the command is run
	Log          *slog.Logger
	Say          func(line string) // prints a line about each step
}

// Run keeps as many workers as s decides until ctx ends. Errors of the coordinator and the fleet are logged, once until
// they change, and it tries again.
func Run(ctx context.Context, c Coordinator, f Fleet, s *Scaler, o Options) {
	l := &loop{coordinator: c, fleet: f, scaler: s, Options: o, leaving: map[string]bool{}}
	for last := ""; ; {
		text := ""
		if err := l.look(ctx); err != nil && ctx.Err() == nil {
			text = err.Error()
		}
		if text != "" && text != last {
			o.Log.Warn("cannot scale; trying again", "action", o.Action, "error", text)
		}
		last = text
		select {
		case <-ctx.Done():
			return
		case <-time.After(o.Interval):
		}
	}
}

// loop is the state of Run.
type loop struct {
	Options
	coordinator Coordinator
	fleet       Fleet
	scaler      *Scaler

	leaving map[string]bool // sessions that were drained and have not ended
	untold  []string        // drained sessions that the command does not know
	drained time.Time       // when they were
}

// look compares the workers with those that there shall be, and takes one step.
func (l *loop) look(ctx context.Context) error {
	a, err := l.coordinator.ActionFor(ctx, l.Action, l.Target)
	if err != nil {
		return err
	}
	sessions, err := l.coordinator.Working(ctx)
	if err != nil {
		return err
	}
	active := l.serving(sessions)
	if err := l.tellDrained(ctx, len(active)); err != nil {
		return err
	}
	workers, err := l.fleet.Workers(ctx, len(active))
	if err != nil {
		return err
	}
	to := l.scaler.Step(time.Now(), workers, l.workersFor(a.Wanted, active))
	if to == workers {
		return nil
	}
	why := fmt.Sprintf("waiting tasks: %d, wanted slots: %d", a.Tasks["waiting"], a.Wanted)
	if to < workers && !l.fleet.DrainsItself() {
		return l.drain(ctx, why, active, workers-to)
	}
	if err := l.fleet.Scale(ctx, Change{Action: l.Action, From: workers, To: to}); err != nil {
		return err
	}
	l.Say(fmt.Sprintf("%s: %d to %d workers (%s)", l.Action, workers, to, why))
	return nil
}

// serving returns the sessions that serve the action and were not drained, and forgets drained ones that have ended.
func (l *loop) serving(sessions []types.Session) (active []types.Session) {
	left := map[string]bool{}
	for _, s := range sessions {
		if l.leaving[s.ID] {
			left[s.ID] = true
		} else if l.slotsOf(s) > 0 {
			active = append(active, s)
		}
	}
	l.leaving = left
	return active
}

func (l *loop) slotsOf(s types.Session) int {
	for _, served := range s.Serves {
		if served.Action == l.Action {
			return int(served.Slots)
		}
	}
	return 0
}

// workersFor returns how many workers have so many slots.
func (l *loop) workersFor(slots int64, active []types.Session) int {
	each := float64(l.Slots)
	if each == 0 && len(active) > 0 {
		for _, s := range active {
			each += float64(l.slotsOf(s)) / float64(len(active))
		}
	}
	return int(math.Ceil(float64(slots) / max(each, 1)))
}

// drain drains n sessions, those with the fewest tasks first. One step at a time does so: the command gets their names
// once they have ended.
func (l *loop) drain(ctx context.Context, why string, active []types.Session, n int) error {
	if len(l.untold) > 0 {
		return nil
	}
	slices.SortStableFunc(active, func(a, b types.Session) int { return len(a.Tasks) - len(b.Tasks) })
	for _, s := range active[:min(n, len(active))] {
		if err := l.coordinator.Drain(ctx, s.ID); err != nil {
			return err // those before are drained, and the command gets their names
		}
		l.leaving[s.ID] = true
		l.untold, l.drained = append(l.untold, s.ID), time.Now()
	}
	l.Say(fmt.Sprintf("%s: draining %s (%s)", l.Action, wording.And(l.untold...), why))
	return nil
}

// tellDrained runs the command for sessions that were drained: when they have ended, or after DrainTimeout.
func (l *loop) tellDrained(ctx context.Context, active int) error {
	isLeaving := slices.ContainsFunc(l.untold, func(id string) bool { return l.leaving[id] })
	if len(l.untold) == 0 || isLeaving && time.Since(l.drained) < l.DrainTimeout {
		return nil
	}
	before := active + len(l.untold)
	if err := l.fleet.Scale(ctx, Change{Action: l.Action, From: before, To: active, Drained: l.untold}); err != nil {
		return err
	}
	l.Say(fmt.Sprintf("%s: %d to %d workers (drained %s)", l.Action, before, active, wording.And(l.untold...)))
	l.untold = nil
	return nil
}
