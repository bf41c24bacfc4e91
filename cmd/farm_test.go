package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/remote"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
	"leasehold/worker"
)

const (
	farmBeat    = 2 * time.Second
	farmLost    = 6 * time.Second
	farmBackoff = 30 * time.Second
)

var muted = slog.New(slog.NewTextHandler(io.Discard, nil))

// farm is an engine with the protocols of tasks behind a gate, in fake time, and
// real workers that reach it over networks of any weather.
type farm struct {
	*testing.T
	engine  *engine.Engine
	repo    space.Repository
	port    *pipes
	running sync.WaitGroup
}

// onFarm runs a test on a farm; all has ended when it returns.
func onFarm(t *testing.T, test func(f *farm)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		policy := task.Policy{MaxAttempts: 100, Backoff: farmBackoff}
		e, err := engine.Open(t.Context(), engine.Config{
			Journal: &journal.Memory{}, Log: muted,
			Procedures: space.Join(status.Procedures(), policy.Procedures(), task.DeskProcedures()),
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		f := &farm{T: t, engine: e, port: newPipes()}
		f.running.Go(func() { require.NoError(t, e.Run(ctx)) })
		f.repo, err = e.Session(t.Context(), "farmer", 0)
		require.NoError(t, err)
		for _, defs := range [][]space.Definition{status.Spaces(), lease.Spaces(), task.Spaces()} {
			for _, d := range defs {
				require.NoError(t, f.repo.Create(t.Context(), d.Name, d.Options))
			}
		}
		gate := native.New(native.Config{Engine: e, Lost: farmLost, Log: muted})
		f.running.Go(func() { require.NoError(t, gate.Serve(ctx, f.port)) })
		test(f)
		stop()
		f.running.Wait()
		<-time.After(time.Minute) // for what is under way on the networks
	})
}

// over connects through a weather, as worker-N.
func (f *farm) over(w *weather, name string) status.Connect {
	n := 0
	return func(ctx context.Context) (space.Repository, error) {
		n++
		c, err := remote.Dial(ctx, remote.Config{Session: fmt.Sprint(name, "-", n), Mode: "worker", TTL: farmLost, Dial: w.to(f.port), Log: muted})
		if err != nil {
			return nil, err
		}
		return space.Over(c), nil
	}
}

// hire runs a worker with two slots; end drains it and returns what Run did.
func (f *farm) hire(connect status.Connect, h worker.Handler) (end func() error, ended chan error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended = make(chan error, 1)
	f.running.Go(func() {
		ended <- worker.Run(ctx, connect, worker.Config{
			Handlers: map[string]worker.Handler{"act": h}, Slots: 2, Heartbeat: farmBeat,
			Drain: 30 * time.Second, Grace: 10 * time.Second, Log: muted,
		})
	})
	return func() error { cancel(); return <-ended }, ended
}

func (f *farm) create(tasks int) {
	for n := range tasks {
		_, err := task.Client{Repo: f.repo}.Create(f.Context(), models.Task{Action: "act", Subject: fmt.Sprint(n), Timeout: models.SecondsOf(10 * time.Minute)}, 0)
		require.NoError(f, err)
	}
}

// results returns the results by what they are of: subject, part and token.
func (f *farm) results() map[string]int {
	all, err := f.repo.Space(task.Result).QueryAll(f.Context(), task.AnyResult("act"))
	require.NoError(f, err)
	seen := map[string]int{}
	for _, r := range all {
		seen[fmt.Sprint(r.Str(2), " ", r.Str(3), " ", r.Int64(5))]++
	}
	return seen
}

func (f *farm) left() int {
	infos, err := f.repo.List(f.Context())
	require.NoError(f, err)
	for _, i := range infos {
		if i.Name == task.Space {
			return i.Visible + i.Held
		}
	}
	return -1
}

// holder returns who has a task, if only one is held.
func (f *farm) holder() string {
	claim, _, err := f.repo.Space(lease.Space).QueryP(f.Context(), task.AnyClaim())
	require.NoError(f, err)
	return claim.Str(2)
}

func (f *farm) state(id string) string {
	s, _, err := f.repo.Space(status.Space).QueryP(f.Context(), tuple.Match(id, tuple.AnyString, tuple.AnyString))
	require.NoError(f, err)
	return s.Str(1)
}

// labours makes a handler of a function.
type labours func(ctx context.Context, job worker.Job) error

func (l labours) Handle(ctx context.Context, job worker.Job) error { return l(ctx, job) }

// quick reports one part and resolves with another.
var quick = labours(func(ctx context.Context, job worker.Job) error {
	if err := job.Report(ctx, "first", nil); err != nil {
		return err
	}
	return job.Resolve(ctx, "last", nil)
})

// forever holds its task until it is told to stop.
var forever = labours(func(ctx context.Context, _ worker.Job) error { <-ctx.Done(); return ctx.Err() })

// Row 35: a second of latency and as much jitter, one byte at a time, and of the
// connections 30 % are reset within each 1,000 bytes.
func TestFault35OverABadNetworkAllTasksFinishAndNothingHappensTwice(t *testing.T) {
	const tasks, workers = 40, 4
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			onFarm(t, func(f *farm) {
				w := &weather{latency: time.Second, jitter: time.Second, segment: 1, resets: 30, rand: rand.New(rand.NewPCG(seed, 35))}
				f.create(tasks)
				var ends []func() error
				for n := range workers {
					end, _ := f.hire(f.over(w, fmt.Sprint("worker", n)), quick)
					ends = append(ends, end)
				}
				for waited := time.Duration(0); f.left() > 0; waited += time.Second {
					require.Less(t, waited, time.Hour)
					<-time.After(time.Second)
				}
				finished := map[string]bool{}
				for what, times := range f.results() {
					require.Equal(t, 1, times, "%s: what one attempt reports is there once", what)
					var subject, part string
					_, err := fmt.Sscan(what, &subject, &part)
					require.NoError(t, err)
					finished[subject+" "+part] = true
				}
				require.Len(t, finished, 2*tasks)
				require.Positive(t, w.cutSoFar())
				for _, end := range ends {
					_ = end() // its good-bye may get lost
				}
			})
		})
	}
}

// Row 34: the coordinator finds out about a worker that is cut off within session-lost
// after its last beat, and its work goes to another after the back-off. One beat more may
// come through from a worker that hears nothing.
func TestFault34APartitionedWorkersTaskGoesToAnother(t *testing.T) {
	for name, cut := range map[string]func(w *weather){
		"both ways":             func(w *weather) { w.set(&w.mute[up], true); w.set(&w.mute[down], true) },
		"to the coordinator":    func(w *weather) { w.set(&w.mute[up], true) },
		"to the worker":         func(w *weather) { w.set(&w.mute[down], true) },
		"reset, and then none":  func(w *weather) { w.set(&w.closed, true); w.reset() },
		"none, and then a mute": func(w *weather) { w.set(&w.mute[up], true); w.reset() },
	} {
		t.Run(name, func(t *testing.T) {
			onFarm(t, func(f *farm) {
				bad := &weather{}
				endBad, _ := f.hire(f.over(bad, "cut"), forever)
				f.create(1)
				<-time.After(time.Minute)
				require.Equal(t, "cut-1", f.holder())
				endGood, _ := f.hire(f.over(&weather{}, "good"), forever)
				cut(bad)
				<-time.After(farmBeat + farmLost + 1)
				require.Empty(t, f.state("cut-1"), "it is lost")
				<-time.After(farmLost + farmBackoff + time.Second)
				require.Equal(t, "good-1", f.holder())

				bad.set(&bad.closed, false)
				bad.set(&bad.mute[up], false)
				bad.set(&bad.mute[down], false)
				<-time.After(time.Minute)
				require.NotEmpty(t, f.state("cut-2"), "it is back, as a new session")
				require.NoError(t, endBad())
				require.NoError(t, endGood())
			})
		})
	}
}

func TestADrainIsHeardOverTheGate(t *testing.T) {
	onFarm(t, func(f *farm) {
		_, ended := f.hire(f.over(&weather{latency: time.Second}, "far"), forever)
		f.create(1)
		<-time.After(time.Minute)
		require.Equal(t, "far-1", f.holder())
		began := time.Now()
		require.NoError(t, status.Drain(t.Context(), f.repo, "far-1"))
		require.NoError(t, <-ended)
		require.Less(t, time.Since(began), 40*time.Second)
		require.Empty(t, f.state("far-1"))
		require.Empty(t, f.holder())
		i, err := task.Client{Repo: f.repo}.Claim(t.Context(), "act")
		require.NoError(t, err)
		require.Zero(t, i.Attempts, "it was handed back")
		require.ErrorIs(t, status.Drain(t.Context(), f.repo, "far-1"), fault.ErrNotFound)
	})
}

// skewed is a connection of somebody whose wall clock is off: every time of day that
// leaves it is.
type skewed struct {
	space.Conn
	by    time.Duration
	times atomic.Int64
}

var timeOfDay = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

func (s *skewed) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	r.Tuple, r.Args = s.skew(r.Tuple), s.skew(r.Args)
	return s.Conn.Do(ctx, r)
}

func (s *skewed) skew(t tuple.Tuple) tuple.Tuple {
	off := make(tuple.Tuple, len(t))
	for i, f := range t {
		switch v := f.(type) {
		case tuple.Tuple:
			f = s.skew(v)
		case string:
			f = timeOfDay.ReplaceAllStringFunc(v, func(text string) string {
				at, err := time.Parse(time.RFC3339Nano, text)
				if err != nil {
					return text
				}
				s.times.Add(1)
				return at.Add(s.by).Format(time.RFC3339Nano)
			})
		}
		off[i] = f
	}
	return off
}

func TestAWorkersClockThatIsAnHourOffChangesNothing(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour} {
		t.Run(by.String(), func(t *testing.T) {
			onFarm(t, func(f *farm) {
				var conn *skewed
				working := labours(func(ctx context.Context, job worker.Job) error {
					require.NoError(t, job.Report(ctx, "first", json.RawMessage(`{"at":"2000-01-01T00:00:00Z"}`)))
					<-ctx.Done()
					return ctx.Err()
				})
				end, _ := f.hire(func(ctx context.Context) (space.Repository, error) {
					c, err := f.engine.Connect(ctx, "off", farmLost)
					conn = &skewed{Conn: c, by: by}
					return space.Over(conn), err
				}, working)
				f.create(1)
				<-time.After(9 * time.Minute)
				require.Equal(t, "off", f.holder(), "it lives, and holds its task")
				<-time.After(time.Minute - time.Second)
				require.Equal(t, "off", f.holder())
				<-time.After(2 * time.Second)
				require.Empty(t, f.holder(), "its task timed out when it should")
				require.NotEmpty(t, f.state("off"))
				require.Greater(t, conn.times.Load(), int64(1))
				require.NoError(t, end())
			})
		})
	}
}
