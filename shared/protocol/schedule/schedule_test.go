package schedule_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is an engine that runs, and a client with a clock of its own.
type fixture struct {
	schedule.Client
	t     *testing.T
	tasks task.Client
	clock time.Time
	stop  func()
	end   func() error
}

// start runs an engine on a journal.
func start(t *testing.T, j journal.Journal, clock string) *fixture {
	return startWith(t, j, clock, slices.Concat(schedule.Spaces(), task.Spaces(), status.Spaces(), lease.Spaces()))
}

// startWith is start with other spaces.
func startWith(t *testing.T, j journal.Journal, clock string, spaces []space.Definition) *fixture {
	policy := task.Policy{MaxAttempts: 3, Backoff: time.Second}
	e, err := engine.Open(t.Context(), engine.Config{Journal: j, Procedures: space.Join(
		schedule.Procedures(), policy.Procedures(), policy.AdminProcedures(), status.Procedures(), lease.Procedures(), browse.Procedures())})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	repo, err := e.Session(t.Context(), "worker-1", 0)
	require.NoError(t, err)
	for _, d := range spaces {
		require.NoError(t, repo.Create(t.Context(), d.Name, d.Options))
	}
	f := &fixture{Client: schedule.Client{Repo: repo}, t: t, tasks: task.Client{Repo: repo}}
	f.end = func() error { stop(); return <-done }
	f.stop = func() { require.NoError(t, f.end()) }
	f.Now = func() time.Time { return f.clock }
	f.set(clock)
	return f
}

func (f *fixture) set(clock string) {
	at, err := time.Parse(time.RFC3339, clock)
	require.NoError(f.t, err)
	f.clock = at
}

// tick sets the clock and runs the due schedules.
func (f *fixture) tick(clock string) {
	f.set(clock)
	require.NoError(f.t, f.RunDue(f.t.Context()))
	require.NoError(f.t, f.RunDue(f.t.Context()), "a second time, which changes nothing")
}

func (f *fixture) add(name string, s models.Schedule) schedule.State {
	if s.Task.Action == "" {
		s.Task.Action = "import"
	}
	state, created, err := f.Set(f.t.Context(), name, s)
	require.NoError(f.t, err)
	require.True(f.t, created)
	return state
}

// due returns the due times of the tasks that are alive.
func (f *fixture) due() []string {
	all, _, err := f.tasks.List(f.t.Context(), task.Filter{}, nil, 100)
	require.NoError(f.t, err)
	times := []string{}
	for _, l := range all {
		require.Equal(f.t, "import", l.Action)
		times = append(times, l.Tags[len(l.Tags)-1])
	}
	slices.Sort(times)
	return times
}

func (f *fixture) state(name string) schedule.State {
	s, err := f.Get(f.t.Context(), name)
	require.NoError(f.t, err)
	return s
}

// logged counts the lines of the log about a schedule.
func (f *fixture) logged(name string) (n int) {
	lines, err := status.Lines(f.t.Context(), f.Repo)
	require.NoError(f.t, err)
	for _, l := range lines {
		if l.ID == "schedule-"+name {
			n++
		}
	}
	return n
}

func inBubble(t *testing.T, clock string, do func(f *fixture)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := start(t, &journal.Memory{}, clock)
		defer f.stop()
		do(f)
	})
}

func TestEachDueTimeHasOneTask(t *testing.T) {
	inBubble(t, "2026-11-22T12:00:00Z", func(f *fixture) {
		s := f.add("nightly", models.Schedule{Cron: "0 3 * * *", Zone: "Europe/Berlin", Overlap: models.OverlapAllow,
			Task: models.ScheduledTask{Action: "import", Data: []byte(`{"all": true}`), Priority: 4, Tags: []string{"db"}}})
		require.Equal(t, "2026-11-23T02:00:00Z", s.Next.Format(time.RFC3339))
		f.tick("2026-11-23T01:59:59Z")
		require.Empty(t, f.due())
		f.tick("2026-11-23T02:00:00Z")
		f.tick("2026-11-23T02:00:59Z")
		require.Equal(t, []string{"due:2026-11-23T02:00:00Z"}, f.due())
		f.tick("2026-11-24T02:00:00Z")
		require.Equal(t, []string{"due:2026-11-23T02:00:00Z", "due:2026-11-24T02:00:00Z"}, f.due())

		i, err := f.tasks.Claim(t.Context(), "import")
		require.NoError(t, err)
		require.JSONEq(t, `{"all": true}`, string(i.Data))
		require.Equal(t, int64(4), i.Priority)
		require.Equal(t, []string{"db", "schedule:nightly", "due:2026-11-23T02:00:00Z"}, i.Tags)
	})
}

func TestAnIntervalIsCountedFromTheDueTimeBefore(t *testing.T) {
	inBubble(t, "2026-11-22T12:00:00Z", func(f *fixture) {
		f.add("often", models.Schedule{Every: 90, Overlap: models.OverlapAllow})
		f.tick("2026-11-22T12:01:31Z") // a second late
		require.Equal(t, "2026-11-22T12:03:00Z", f.state("often").Next.Format(time.RFC3339))
		f.tick("2026-11-22T12:03:00Z")
		require.Equal(t, []string{"due:2026-11-22T12:01:30Z", "due:2026-11-22T12:03:00Z"}, f.due())
	})
}

func TestMissedRunsBecomeOneOrNone(t *testing.T) {
	inBubble(t, "2026-11-22T12:00:00Z", func(f *fixture) {
		f.add("one", models.Schedule{Every: 600})
		f.add("none", models.Schedule{Every: 600, Missed: models.MissedNone})
		f.tick("2026-11-22T18:07:00Z") // no coordinator ran for six hours
		require.Equal(t, []string{"due:2026-11-22T18:00:00Z"}, f.due())
		require.Contains(t, f.state("none").Note, "left out the run of 2026-11-22T18:00:00Z, because it was missed")
		f.tick("2026-11-22T18:10:30Z")
		require.Contains(t, f.due(), "due:2026-11-22T18:10:00Z", "half a minute late is not missed")
		require.Empty(t, f.state("none").Note)
	})
}

func TestARunWaitsOrIsLeftOutWhileTheLastOneIsAlive(t *testing.T) {
	inBubble(t, "2026-11-22T12:00:00Z", func(f *fixture) {
		ctx := t.Context()
		f.add("skips", models.Schedule{Every: 60})
		f.tick("2026-11-22T12:01:00Z")
		first, err := f.tasks.Claim(ctx, "import")
		require.NoError(t, err)
		f.tick("2026-11-22T12:02:00Z")
		require.Equal(t, []string{"due:2026-11-22T12:01:00Z"}, f.due())
		require.Contains(t, f.state("skips").Note, "left out the run of 2026-11-22T12:02:00Z, because task "+first.ID+" of an earlier run is alive")
		f.tick("2026-11-22T12:03:00Z")
		require.Contains(t, f.state("skips").Note, "left out the run of 2026-11-22T12:03:00Z")
		require.Equal(t, 1, f.logged("skips"), "runs that are left out in a row have one line")
		require.NoError(t, f.tasks.Report(ctx, first, "", true, nil))
		f.tick("2026-11-22T12:04:00Z")
		require.Equal(t, []string{"due:2026-11-22T12:04:00Z"}, f.due())
		require.Empty(t, f.state("skips").Note)
		require.NoError(t, f.Remove(ctx, "skips"))
		require.NoError(t, f.tasks.Cancel(ctx, f.claimed().ID, ""))

		f.add("waits", models.Schedule{Every: 60, Overlap: models.OverlapWait})
		f.tick("2026-11-22T12:05:00Z")
		first = f.claimed()
		f.tick("2026-11-22T12:06:00Z")
		f.tick("2026-11-22T12:07:00Z")
		require.Equal(t, []string{"due:2026-11-22T12:05:00Z", "due:2026-11-22T12:06:00Z"}, f.due(), "one waits, however many are due")
		require.NoError(t, f.tasks.Report(ctx, first, "", true, nil))
		require.Equal(t, "due:2026-11-22T12:06:00Z", f.claimed().Tags[1])
	})
}

func (f *fixture) claimed() task.Item {
	i, err := f.tasks.Claim(f.t.Context(), "import")
	require.NoError(f.t, err)
	return i
}

func TestAPausedScheduleMissesNothing(t *testing.T) {
	inBubble(t, "2026-11-22T12:00:00Z", func(f *fixture) {
		f.add("s", models.Schedule{Every: 60})
		s, err := f.Pause(t.Context(), "s")
		require.NoError(t, err)
		require.True(t, s.Paused())
		f.tick("2026-11-22T15:00:30Z")
		require.Empty(t, f.due())
		s, err = f.Resume(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, "2026-11-22T15:01:30Z", s.Next.Format(time.RFC3339))
		again, err := f.Resume(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, s, again, "resuming it twice changes nothing")
	})
}

func TestAClockThatIsSetBackRepeatsNoRun(t *testing.T) {
	inBubble(t, "2026-11-22T12:00:00Z", func(f *fixture) {
		f.add("s", models.Schedule{Cron: "0 * * * *", Overlap: models.OverlapAllow})
		f.tick("2026-11-22T13:00:00Z")
		f.tick("2026-11-22T12:30:00Z")
		f.tick("2026-11-22T13:00:00Z")
		require.Equal(t, []string{"due:2026-11-22T13:00:00Z"}, f.due())
		f.tick("2036-11-22T12:30:00Z") // a clock ten years fast
		require.Len(t, f.due(), 2)
		f.tick("2026-11-22T13:30:00Z")
		require.Contains(t, f.state("s").Note, "the clock was set back")
		require.Equal(t, "2026-11-22T14:00:00Z", f.state("s").Next.Format(time.RFC3339), "it does not wait for ten years")
	})
}

func TestSetReplacesAScheduleAndKeepsItsDueTime(t *testing.T) {
	inBubble(t, "2026-11-22T12:00:00Z", func(f *fixture) {
		s := models.Schedule{Every: 600, Task: models.ScheduledTask{Action: "import"}}
		f.add("s", s)
		f.set("2026-11-22T12:05:00Z")
		s.Task.Priority = 3
		changed, created, err := f.Set(t.Context(), "s", s)
		require.NoError(t, err)
		require.False(t, created)
		require.Equal(t, "2026-11-22T12:10:00Z", changed.Next.Format(time.RFC3339))
		s.Every = 60
		changed, _, err = f.Set(t.Context(), "s", s)
		require.NoError(t, err)
		require.Equal(t, "2026-11-22T12:06:00Z", changed.Next.Format(time.RFC3339))
		f.add("a", s)
		all, err := f.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"a", "s"}, []string{all[0].Name, all[1].Name})
		require.NoError(t, f.Remove(t.Context(), "a"))
		require.ErrorIs(t, f.Remove(t.Context(), "a"), fault.ErrNotFound)
	})
}

func TestWhatCannotBeScheduledIsRefused(t *testing.T) {
	inBubble(t, "2026-11-22T12:00:00Z", func(f *fixture) {
		good := models.Schedule{Every: 60, Task: models.ScheduledTask{Action: "import"}}
		for text, c := range map[string]struct {
			name   string
			change func(*models.Schedule)
		}{
			"of a schedule: want 1 to 100":          {"a b", func(*models.Schedule) {}},
			`missed "all": want one or none`:        {"s", func(s *models.Schedule) { s.Missed = "all" }},
			`overlap "x": want skip, wait or allow`: {"s", func(s *models.Schedule) { s.Overlap = "x" }},
			"want an id":                            {"s", func(s *models.Schedule) { s.Task.Action = "a\nb" }},
			"timeout -1:":                           {"s", func(s *models.Schedule) { s.Task.Timeout = -1 }},
			"tags has 19 names, at most 16":         {"s", func(s *models.Schedule) { s.Task.Tags = make([]string, 17) }},
			"on_limit has no effect without limits": {"s", func(s *models.Schedule) { s.Task.OnLimit = models.Drop }},
		} {
			s := good
			c.change(&s)
			_, _, err := f.Set(t.Context(), c.name, s)
			require.ErrorIs(t, err, fault.ErrInvalid)
			require.ErrorContains(t, err, text)
		}
		for text, cron := range map[string]string{"no due time within five years": "0 0 30 2 *", "beyond end of range": "0 17-9 * * *"} {
			_, _, err := f.Set(t.Context(), "s", models.Schedule{Cron: cron, Task: good.Task})
			require.ErrorIs(t, err, fault.ErrConflict)
			require.ErrorContains(t, err, text)
		}
		s := good
		s.Task.Data = []byte(`"` + string(slices.Repeat([]byte("x"), 70<<10)) + `"`)
		_, _, err := f.Set(t.Context(), "s", s)
		require.ErrorIs(t, err, fault.ErrTooLarge)
	})
}

// A coordinator is killed at each point around a due time, and another one starts after a while:
// the journal on disk has all of the transaction or nothing.
func TestAKillAroundADueTimeCostsNoRunAndRepeatsNone(t *testing.T) {
	t.Parallel()
	const due = "2026-11-22T13:00:00Z"
	for _, c := range []struct {
		killed           string
		missed, nextTick string
		want             []string
	}{
		{"before it", models.MissedOne, "2026-11-22T13:00:30Z", []string{"due:" + due}},
		{"before it", models.MissedNone, "2026-11-22T13:00:30Z", []string{"due:" + due}}, // it is late, and not missed
		{"before it", models.MissedNone, "2026-11-22T13:20:00Z", []string{}},
		{"before the commit", models.MissedOne, "2026-11-22T13:20:00Z", []string{"due:" + due}},
		{"before the commit", models.MissedNone, "2026-11-22T13:20:00Z", []string{}},
		{"after the commit", models.MissedOne, "2026-11-22T13:20:00Z", []string{"due:" + due}},
		{"after the commit", models.MissedNone, "2026-11-22T13:20:00Z", []string{"due:" + due}},
		{"before it", models.MissedOne, "2026-11-22T16:20:00Z", []string{"due:2026-11-22T16:00:00Z"}}, // only the last
	} {
		t.Run(fmt.Sprint(c.killed, ", ", c.missed, ", next at ", c.nextTick), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := &dying{Journal: openDisk(t, dir)}
			f := start(t, j, "2026-11-22T12:30:00Z")
			f.add("s", models.Schedule{Cron: "0 * * * *", Missed: c.missed})
			if c.killed != "before it" {
				j.when.Store(&c.killed)
				f.set(due)
				ctx, cancel := context.WithCancel(t.Context())
				j.dies = cancel
				_, _ = f.RunDue(ctx), f.end() // errors, unless it ended before it noticed
				require.True(t, j.dead.Load())
			} else {
				f.stop()
			}
			require.NoError(t, j.Close())
			again := openDisk(t, dir)
			f = start(t, again, c.nextTick)
			f.tick(c.nextTick)
			require.Equal(t, c.want, f.due())
			f.stop()
			require.NoError(t, again.Close())
		})
	}
}

func openDisk(t *testing.T, dir string) journal.Journal {
	j, err := pebble.Open(pebble.Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return j
}

// dying is a journal whose process dies at a commit.
type dying struct {
	journal.Journal
	when atomic.Pointer[string] // nil: it lives
	dies func()
	dead atomic.Bool
}

func (d *dying) Load(ctx context.Context, restore func(journal.Fact) error) (journal.Standing, error) {
	if d.dead.Load() {
		return journal.Standing{}, errors.New("killed")
	}
	return d.Journal.Load(ctx, restore)
}

func (d *dying) Commit(ctx context.Context, expected journal.Position, records []journal.Record) error {
	when := d.when.Load()
	if when == nil {
		return d.Journal.Commit(ctx, expected, records)
	}
	if *when == "after the commit" && !d.dead.Load() {
		if err := d.Journal.Commit(ctx, expected, records); err != nil {
			return err
		}
	}
	d.dead.Store(true)
	d.dies()
	return errors.New("killed")
}

// A journal that fails is what a kill leaves: the transaction is either whole or not there.
func TestARunThatFailedHalfwayIsMadeOnceByTheNextCoordinator(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		f := start(t, j, "2026-11-22T12:00:00Z")
		f.add("s", models.Schedule{Every: 60})
		j.Before = func(context.Context, []journal.Record) error { return errors.New("killed") }
		f.set("2026-11-22T12:01:00Z")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Error(t, f.RunDue(ctx))
		j.Before = nil
		f.stop()
		f = start(t, j, "2026-11-22T12:01:05Z")
		defer f.stop()
		f.tick("2026-11-22T12:01:05Z")
		f.tick("2026-11-22T12:01:06Z")
		require.Equal(t, []string{"due:2026-11-22T12:01:00Z"}, f.due())
	})
}

func TestACronExpressionOfAnUnusualFormIsRefused(t *testing.T) {
	inBubble(t, "2026-11-22T12:00:00Z", func(f *fixture) {
		for _, cron := range []string{"1,,2 * * * *", "0 9 * * 1,", "0 ,9 * * *", "0 9 , * *", "0 9 * * *-5", "0 +9 * * *", "000 9 * * *", "0\u00a09 * * *"} {
			_, _, err := f.Set(t.Context(), "s", models.Schedule{Cron: cron, Task: models.ScheduledTask{Action: "a"}})
			require.ErrorIs(t, err, fault.ErrInvalid)
			require.ErrorContains(t, err, "a field has another form", cron)
		}
	})
}

func TestARunWhoseTaskALimitDropsIsNoted(t *testing.T) {
	inBubble(t, "2026-11-22T12:00:00Z", func(f *fixture) {
		require.NoError(t, f.tasks.SetLimit(t.Context(), task.Limit{Name: "db", Max: 1}))
		o := models.TaskOptions{Limits: []string{"db"}, OnLimit: models.Drop}
		_, err := f.tasks.Create(t.Context(), models.Task{Action: "other", Timeout: 600, TaskOptions: o}, 0)
		require.NoError(t, err)
		_, err = f.tasks.Claim(t.Context(), "other")
		require.NoError(t, err)
		f.add("s", models.Schedule{Every: 60, Task: models.ScheduledTask{Action: "import", Limits: o.Limits, OnLimit: o.OnLimit}})
		f.tick("2026-11-22T12:01:00Z")
		require.Equal(t, "the task of 2026-11-22T12:01:00Z is cancelled: dropped, because the limit db was reached", f.state("s").Note)
	})
}

func TestARunWhoseTaskIsRefusedIsNotedAndNotRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := startWith(t, &journal.Memory{}, "2026-11-22T12:00:00Z", slices.Concat(schedule.Spaces(), status.Spaces())) // without tasks
		defer f.stop()
		f.add("s", models.Schedule{Every: 60})
		f.tick("2026-11-22T12:01:00Z")
		all, err := f.List(t.Context())
		require.NoError(t, err)
		require.Contains(t, all[0].Note, "no task for 2026-11-22T12:01:00Z")
		require.Contains(t, all[0].Note, "not found")
	})
}
