package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/actions"
	"leasehold/coordinator/history"
	"leasehold/shared/catalog/sqldb/sqldbtest"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/task"
)

// fixture is a history that is recorded, with a wall clock that can jump.
type fixture struct {
	*testing.T
	path    string
	store   *history.Store
	tracker *actions.Tracker
	mu      sync.Mutex // guards the next three
	waiting map[string]int64
	spaces  map[string]history.Tuples
	broken  bool // the tasks that wait cannot be read
	shift   atomic.Int64
	log     bytes.Buffer
	stop    func()
}

// withFixture runs f on a fixture that starts at a whole minute of synctest's clock.
func withFixture(t *testing.T, f func(*fixture)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &fixture{T: t, path: filepath.Join(t.TempDir(), "catalog.db"), waiting: map[string]int64{}, spaces: map[string]history.Tuples{}}
		h.start()
		defer func() { h.stop() }()
		f(h)
	})
}

// now is the wall clock.
func (h *fixture) now() time.Time { return time.Now().Add(time.Duration(h.shift.Load())) }

// start opens the database and records into it; stop ends both. A coordinator that starts has counted nothing.
func (h *fixture) start() {
	opened := sqldbtest.Open(h.T, h.path, history.Schema())
	h.store, h.tracker = history.New(opened), actions.NewTracker()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		history.Run(ctx, history.Config{Store: h.store, Tracker: h.tracker, Now: h.now, Log: slog.New(slog.NewTextHandler(&h.log, nil)), Waiting: func(context.Context) (map[string]int64, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.broken {
				return nil, errors.New("no answer")
			}
			return maps.Clone(h.waiting), nil
		}, Spaces: func(context.Context) (map[string]history.Tuples, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return maps.Clone(h.spaces), nil
		}})
	}()
	h.stop = func() {
		stop()
		<-ended
		require.NoError(h, opened.Close())
	}
	synctest.Wait()
}

// wait sets how many tasks of an action wait.
func (h *fixture) wait(action string, n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting[action] = n
}

// sleep lets time pass, and waits for what happens in it.
func (h *fixture) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// note counts an event of each kind that the history has.
func (h *fixture) note(action string) {
	h.tracker.Note([]any{
		task.Event{Kind: task.EventCreated, Action: action},
		task.Event{Kind: task.EventEnded, Action: action, Outcome: string(task.Resolved)},
		task.Event{Kind: task.EventFailed, Action: action, Outcome: task.WorkerLost},
		task.Event{Kind: task.EventFailed, Action: action, Outcome: task.TimedOut},
		task.Event{Kind: task.EventEnded, Action: action, Outcome: string(task.StateDead)},
		task.Event{Kind: task.EventEnded, Action: action, Outcome: string(task.Cancelled)},
	})
}

// points returns those of an action, of all time.
func (h *fixture) points(action string, step time.Duration) []history.Point {
	h.Helper()
	all, err := h.store.Read(h.Context(), history.Query{Action: action, Step: step, From: time.Unix(0, 0), To: time.Unix(1<<40, 0)})
	require.NoError(h, err)
	return all
}

// created returns the tasks created by the minutes since a time, such as "0:2 1:5".
func (h *fixture) created(action string, step time.Duration, begin time.Time) string {
	h.Helper()
	var all []string
	for _, p := range h.points(action, step) {
		all = append(all, fmt.Sprintf("%d:%d", p.At.Sub(begin)/step, p.Created))
	}
	return strings.Join(all, " ")
}

func TestEachMinuteHasItsCountsAndTheTasksThatWaitAtItsEnd(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now()
		h.sleep(10 * time.Second)
		h.note("resize")
		h.wait("resize", 7)
		h.wait("sweep", 2)
		h.sleep(time.Minute)
		h.wait("resize", 0)
		h.note("resize")
		h.sleep(time.Minute)
		one := history.Counts{Created: 1, Done: 1, Failed: 2, Dead: 1}
		first := one
		first.Waiting = 7
		require.Equal(t, []history.Point{{begin.UTC(), first}, {begin.Add(time.Minute).UTC(), one}}, h.points("resize", history.Minute))
		require.Equal(t, []history.Point{{begin.UTC(), history.Counts{Waiting: 2}}, {begin.Add(time.Minute).UTC(), history.Counts{Waiting: 2}}}, h.points("sweep", history.Minute))
		first.Waiting, one.Waiting = 9, 2
		require.Equal(t, []history.Point{{begin.UTC(), first}, {begin.Add(time.Minute).UTC(), one}}, h.points("", history.Minute))
		require.Equal(t, []history.Point{{begin.UTC(), history.Counts{Created: 2, Done: 2, Failed: 4, Dead: 2}}}, h.points("resize", history.TenMinute), "waiting is that of the last minute")
	})
}

func TestAMinuteWithoutEventsIsZeroAndNotAbsent(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now()
		h.sleep(2*time.Minute + time.Second)
		require.Equal(t, "0:0 1:0", h.created("", history.Minute, begin))
		require.Equal(t, "0:0 1:0", h.created("unknown", history.Minute, begin))
	})
}

func TestARestartInAMinuteLosesNothing(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now()
		h.note("resize")
		h.sleep(70 * time.Second)
		h.note("resize")
		h.stop()
		h.sleep(10 * time.Second)
		h.start()
		h.note("resize")
		h.sleep(time.Minute)
		require.Equal(t, "0:1 1:2", h.created("resize", history.Minute, begin))
		require.Equal(t, "0:3", h.created("resize", history.TenMinute, begin))
	})
}

func TestMinutesInWhichTheCoordinatorDidNotRunAreAbsent(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now()
		h.note("resize")
		h.sleep(90 * time.Second)
		h.stop()
		h.sleep(3 * time.Minute)
		h.start()
		h.note("resize")
		h.sleep(time.Minute)
		require.Equal(t, "0:1 1:0 4:1", h.created("resize", history.Minute, begin))
	})
}

func TestAfterAMissedMinuteTheCountsAreThoseOfTheLastOne(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now()
		h.note("resize")
		h.sleep(30 * time.Second)
		h.shift.Store(int64(5 * time.Minute)) // the machine slept: the timer did not run
		h.sleep(30 * time.Second)
		h.note("resize")
		h.sleep(time.Minute)
		require.Equal(t, "5:1 6:1", h.created("resize", history.Minute, begin))
	})
}

func TestAClockThatJumpsBackAddsToTheMinutesThatAreThere(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now()
		for range 3 {
			h.note("resize")
			h.sleep(time.Minute)
		}
		h.shift.Store(int64(-2 * time.Minute))
		for range 3 {
			h.note("resize")
			h.sleep(time.Minute)
		}
		require.Equal(t, "0:1 1:2 2:2 3:1", h.created("resize", history.Minute, begin))
	})
}

func TestAClockThatIsWrongForAWhileRemovesNothing(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now()
		for _, shift := range []time.Duration{0, 365 * 24 * time.Hour, -365 * 24 * time.Hour, 0} {
			h.shift.Store(int64(shift))
			h.note("resize")
			h.sleep(time.Minute)
		}
		year := 365 * 24 * 60
		require.Equal(t, fmt.Sprintf("%d:1 0:1 3:1 %d:1", 2-year, 1+year), h.created("resize", history.Minute, begin))
	})
}

func TestATimerThatIsNotAtAWholeMinuteCountsEachEventOnce(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now()
		h.sleep(15 * time.Second)
		h.shift.Store(int64(20 * time.Second))
		for range 4 {
			h.note("resize")
			h.sleep(time.Minute)
		}
		sum := int64(0)
		for _, p := range h.points("resize", history.Minute) {
			sum += p.Created
		}
		require.Equal(t, int64(4), sum, h.created("resize", history.Minute, begin))
	})
}

func TestSixtyActionsAreFiftyAndOther(t *testing.T) {
	withFixture(t, func(h *fixture) {
		note := func(from, to int) {
			for n := from; n < to; n++ {
				h.note(fmt.Sprintf("a%02d", n))
			}
		}
		note(0, 60)
		h.wait("a59", 3)
		h.wait("a61", 4)
		h.sleep(time.Minute)
		require.Equal(t, int64(1), h.points("a49", history.Minute)[0].Created)
		require.Zero(t, h.points("a50", history.Minute)[0].Created)
		require.Equal(t, history.Counts{Created: 10, Done: 10, Failed: 20, Dead: 10, Waiting: 7}, h.points(history.Other, history.Minute)[0].Counts)

		h.stop() // others are the first fifty after a restart
		h.start()
		note(50, 60)
		note(0, 50)
		h.sleep(time.Minute)
		require.Equal(t, int64(1), h.points("a50", history.Minute)[1].Created, "of another minute")
		require.Equal(t, int64(2), h.points("a39", history.TenMinute)[0].Created)
		require.Zero(t, h.points("a50", history.TenMinute)[0].Created, "the ten minutes have no place for it")
		require.Equal(t, int64(30), h.points(history.Other, history.TenMinute)[0].Created)
		require.Equal(t, int64(120), h.points("", history.TenMinute)[0].Created)
	})
}

func TestNamesThatATableCannotHaveCountToOther(t *testing.T) {
	withFixture(t, func(h *fixture) {
		for _, name := range []string{strings.Repeat("x", 251), "a\x00b", "\xff"} {
			h.note(name)
		}
		h.sleep(time.Minute)
		require.Equal(t, int64(3), h.points(history.Other, history.Minute)[0].Created)
	})
}

func TestAfterTwoWeeksTheOldestGo(t *testing.T) {
	withFixture(t, func(h *fixture) {
		h.stop()
		opened := sqldbtest.Open(h.T, sqlfile.Memory, history.Schema())
		h.store, h.stop = history.New(opened), func() { require.NoError(t, opened.Close()) }
		begin := h.now()
		for n := range 15 * 24 * 6 {
			at := begin.Add(time.Duration(n) * history.TenMinute)
			require.NoError(t, h.store.Add(h.Context(), at, at, history.Sample{Actions: map[string]history.Counts{"resize": {Created: 1}}, Spaces: map[string]history.Tuples{"task": {Visible: int64(n)}}}))
		}
		long, short := h.points("resize", history.TenMinute), h.points("resize", history.Minute)
		require.Len(t, long, history.TenMinutes)
		require.Equal(t, begin.Add(24*time.Hour).UTC(), long[0].At)
		require.Len(t, short, history.Minutes)
		require.Len(t, h.tuples(history.TenMinute)["task"], history.TenMinutes)
		require.Len(t, h.tuples(history.Minute)["task"], history.Minutes)
		future := begin.Add(30 * 24 * time.Hour)
		require.NoError(t, h.store.Add(h.Context(), future, future, history.Sample{}))
		now := begin.Add(15 * 24 * time.Hour)
		require.NoError(t, h.store.Add(h.Context(), now, now, history.Sample{}))
		long = h.points("resize", history.TenMinute)
		require.Len(t, long, history.TenMinutes)
		require.Equal(t, now.UTC(), long[len(long)-1].At, "what a wrong clock made goes first")
	})
}

func TestWhatCannotBeReadIsLoggedOnceAndNothingIsLost(t *testing.T) {
	withFixture(t, func(h *fixture) {
		begin := h.now()
		h.mu.Lock()
		h.broken = true
		h.mu.Unlock()
		for range 3 {
			h.note("resize")
			h.sleep(time.Minute)
		}
		require.Equal(t, "0:1 1:1 2:1", h.created("resize", history.Minute, begin))
		require.Equal(t, 1, strings.Count(h.log.String(), "no answer"), h.log.String())
	})
}
