package autoscale_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/cmd/autoscale"
	"leasehold/coordinator/actions"
	"leasehold/shared/api/types"
	"leasehold/shared/protocol/task"
)

// world is a coordinator with a queue, and a fleet whose workers take a while to connect. Each worker has two slots.
type world struct {
	*testing.T
	waiting, mean float64 // tasks; seconds of one
	arrivals      float64 // tasks a second
	since         time.Time
	workers       []worker
	drained       map[string]bool
	drainsItself  bool
	startup       time.Duration
	failing       error
	next          int

	changes []autoscale.Change
	most    int // workers at a time
}

// worker is one that was started; drained ones end after their tasks.
type worker struct {
	id   string
	from time.Time // when it connects
	to   time.Time // when it ends; zero: it was not told to
}

const slots = 2

func newWorld(t *testing.T) *world {
	return &world{T: t, drained: map[string]bool{}, since: time.Now(), mean: 4, startup: 15 * time.Second}
}

// pass lets time pass: tasks arrive, and workers end them.
func (w *world) pass() {
	elapsed := time.Since(w.since).Seconds()
	w.since = time.Now()
	w.waiting = max(0, w.waiting+elapsed*(w.arrivals-float64(slots*len(w.active()))/w.mean))
	left := w.workers[:0]
	for _, x := range w.workers {
		if x.to.IsZero() || x.to.After(time.Now()) {
			left = append(left, x)
		}
	}
	w.workers = left
	w.most = max(w.most, len(w.workers))
}

func (w *world) active() (all []worker) {
	for _, x := range w.workers {
		if !x.from.After(time.Now()) && x.to.IsZero() {
			all = append(all, x)
		}
	}
	return all
}

func (w *world) ActionFor(_ context.Context, _ string, target time.Duration) (types.Action, error) {
	w.pass()
	a := actions.Action{Rates: actions.Rates{Created: int64(w.arrivals * 60)}, Runs: actions.Runs{Number: 1, Mean: time.Duration(w.mean * float64(time.Second))}}
	a.Counts = task.Counts{task.Waiting: int64(w.waiting)}
	if w.waiting >= 1 {
		a.OldestSince = time.Now().Add(-time.Duration(w.waiting / max(w.arrivals, 1) * float64(time.Second)))
	}
	return types.Action{Wanted: a.Wanted(time.Now(), target), Tasks: map[string]int64{"waiting": int64(w.waiting)}}, w.failing
}

func (w *world) Working(context.Context) (all []types.Session, err error) {
	for _, x := range w.workers {
		if !x.from.After(time.Now()) {
			all = append(all, types.Session{ID: x.id, Serves: []types.Served{{Action: "other", Slots: 1}, {Action: "a", Slots: slots}}})
		}
	}
	return append(all, types.Session{ID: "manager"}), nil
}

func (w *world) Drain(_ context.Context, session string) error {
	for n := range w.workers {
		if w.workers[n].id == session {
			w.workers[n].to, w.drained[session] = time.Now().Add(time.Duration(w.mean)*time.Second), true
			return nil
		}
	}
	return fmt.Errorf("session %s has gone", session)
}

func (w *world) Workers(_ context.Context, connected int) (int, error) {
	if !w.drainsItself {
		return connected, nil
	}
	ordered := 0
	for _, x := range w.workers {
		if x.to.IsZero() {
			ordered++
		}
	}
	return ordered, nil
}

func (w *world) DrainsItself() bool { return w.drainsItself }

func (w *world) Scale(ctx context.Context, c autoscale.Change) error {
	w.changes = append(w.changes, c)
	for _, id := range c.Drained {
		require.True(w, w.drained[id], "%s is named and was not drained", id)
	}
	there := 0
	for _, x := range w.workers {
		if x.to.IsZero() {
			there++
		}
	}
	for ; there < c.To; there++ {
		w.next++
		w.workers = append(w.workers, worker{id: fmt.Sprint("w", w.next), from: time.Now().Add(w.startup)})
	}
	if w.drainsItself {
		for n := 0; n < len(w.workers) && there > c.To; n++ {
			if w.workers[n].to.IsZero() {
				there--
				require.NoError(w, w.Drain(ctx, w.workers[n].id))
			}
		}
	}
	return nil
}

// turns returns how often the number of workers began to grow after it had shrunk, or the reverse.
func (w *world) turns() (n int) {
	last := 0
	for _, c := range w.changes {
		sign := 1
		if c.To < c.From {
			sign = -1
		}
		if last != 0 && sign != last {
			n++
		}
		last = sign
	}
	return n
}

// run runs the loop for a while, in the time of synctest.
func (w *world) run(o autoscale.Options, s *autoscale.Scaler, whole time.Duration) (log string) {
	var out bytes.Buffer
	o.Action, o.Target, o.Interval, o.DrainTimeout = "a", 30*time.Second, 10*time.Second, 10*time.Minute
	o.Say = func(line string) { fmt.Fprintln(&out, line) }
	o.Log = slog.New(slog.NewTextHandler(&out, nil))
	ctx, cancel := context.WithTimeout(w.Context(), whole)
	defer cancel()
	autoscale.Run(ctx, w, w, s, o)
	return out.String()
}

func scaler(least, most int) *autoscale.Scaler {
	return &autoscale.Scaler{Min: least, Max: most, Settle: time.Minute, Calm: 5 * time.Minute}
}

func TestAStepOfLoadGrowsAndShrinksTheFleetOnceWithoutFlapping(t *testing.T) {
	for _, drainsItself := range []bool{false, true} {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("drains itself %v seed %d", drainsItself, seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 0))
				w := newWorld(t)
				w.drainsItself, w.mean, w.startup = drainsItself, 1+9*r.Float64(), time.Duration(r.IntN(40))*time.Second
				s := scaler(1, 40)
				w.run(autoscale.Options{}, s, 20*time.Minute)
				require.Len(t, w.active(), 1, "an empty queue")

				w.arrivals = 1 + 4*r.Float64()
				w.run(autoscale.Options{}, s, 30*time.Minute)
				require.Less(t, w.waiting, w.arrivals*30+1, "tasks wait for less than the target")
				busy := len(w.active())
				require.GreaterOrEqual(t, float64(slots*busy), w.arrivals*w.mean-1)

				w.arrivals = 0
				w.run(autoscale.Options{}, s, time.Hour)
				require.Len(t, w.active(), 1)
				require.LessOrEqual(t, w.most, 40)
				require.LessOrEqual(t, w.turns(), 3, "%v", w.changes)
			})
		})
	}
}

func TestABurstIsWorkedOffAndShortPausesEndNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := scaler(0, 10)
		w.waiting = 300
		w.run(autoscale.Options{Slots: slots}, s, 4*time.Minute)
		require.Equal(t, 10, len(w.active()), "doubled step by step up to the bound")
		grown := len(w.changes)
		for range 10 { // two minutes without tasks, two with
			w.waiting = 0
			w.run(autoscale.Options{Slots: slots}, s, 2*time.Minute)
			w.waiting = 300
			w.run(autoscale.Options{Slots: slots}, s, 2*time.Minute)
		}
		require.Len(t, w.changes, grown, "%v", w.changes)
	})
}

func TestAFleetShrinksToZeroAndEachStepIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := scaler(0, 16)
		w.waiting = 5000
		w.run(autoscale.Options{}, s, 10*time.Minute)
		require.Equal(t, 16, len(w.active()))
		w.waiting = 0
		w.run(autoscale.Options{}, s, time.Hour)
		require.Empty(t, w.active())
		for _, c := range w.changes {
			require.LessOrEqual(t, c.To, max(1, 2*c.From), "%v", w.changes)
			require.GreaterOrEqual(t, 2*c.To, c.From-1, "%v", w.changes)
			require.Equal(t, c.To < c.From, len(c.Drained) > 0, "%v", w.changes)
		}
	})
}

func TestAWorkerThatDoesNotEndIsNamedAfterTheTimeoutAndCountsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := scaler(1, 4)
		w.waiting = 1000
		w.run(autoscale.Options{}, s, 5*time.Minute)
		require.Len(t, w.active(), 4)
		w.waiting, w.mean = 0, 3600 // their last tasks take an hour
		w.run(autoscale.Options{}, s, 8*time.Minute)
		require.Len(t, w.drained, 2)
		before := len(w.changes)
		w.run(autoscale.Options{}, s, 12*time.Minute)
		require.Greater(t, len(w.changes), before)
		require.Len(t, w.changes[before].Drained, 2)
		require.Equal(t, autoscale.Change{Action: "a", From: 4, To: 2, Drained: w.changes[before].Drained}, w.changes[before])
	})
}

func TestAnErrorIsLoggedOnceUntilItChangesAndScalingGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		s := scaler(1, 4)
		w.failing = errors.New("the coordinator is away")
		log := w.run(autoscale.Options{}, s, 10*time.Minute)
		require.Equal(t, 1, bytes.Count([]byte(log), []byte("away")), log)
		require.Empty(t, w.changes)
		w.failing = nil
		w.run(autoscale.Options{}, s, time.Minute)
		require.Len(t, w.active(), 1)
	})
}
