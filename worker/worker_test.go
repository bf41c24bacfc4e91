package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
	"leasehold/worker"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	sessionLost = 6 * time.Second
	timeout     = 10 * time.Minute
	backoff     = 30 * time.Second
	drain       = 30 * time.Second
	grace       = 10 * time.Second
)

// bench is an engine with the task protocol, inside a synctest bubble.
type bench struct {
	t      *testing.T
	engine *engine.Engine
	repo   space.Repository
	ended  chan error                  // the result of the last Run
	repos  []space.Repository          // of the workers' sessions, one for each connect
	refuse bool                        // whether the workers' connections refuse calls
	wrap   func(space.Conn) space.Conn // changes the workers' connections; nil: they stay
	log    io.Writer                   // of the workers

	refusedConnects int // how often a worker tried to connect
}

// inBubble runs f with a bench, and returns when all goroutines have ended.
func inBubble(t *testing.T, f func(b *bench)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		policy := task.Policy{MaxAttempts: 3, Backoff: backoff}
		create := space.Procedures{"test.create": space.WithArgs1(func(tx space.Tx, action string) (tuple.Tuple, error) {
			_, err := task.Create(tx, task.Spec{Task: models.Task{Action: action, Subject: "s", Timeout: models.SecondsOf(timeout), TaskOptions: models.TaskOptions{ResultTuple: true, ResultTTL: 86400}}})
			return nil, err
		})}
		e, err := engine.Open(t.Context(), engine.Config{
			Journal:    &journal.Memory{},
			Procedures: space.Join(status.Procedures(), policy.Procedures(), policy.AdminProcedures(), create),
		})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- e.Run(ctx) }()
		b := &bench{t: t, engine: e, log: io.Discard}
		b.repo, err = e.Session(t.Context(), "test-1", 0)
		require.NoError(t, err)
		for _, defs := range [][]space.Definition{status.Spaces(), lease.Spaces(), task.Spaces()} {
			for _, d := range defs {
				require.NoError(t, b.repo.Create(t.Context(), d.Name, d.Options))
			}
		}
		f(b)
		stop()
		require.NoError(t, <-done)
	})
}

func (b *bench) create(action string) {
	_, err := b.repo.Call(b.t.Context(), space.OpID{}, "test.create", tuple.New(action))
	require.NoError(b.t, err)
}

// run starts a worker; stop drains it and returns what Run returned.
func (b *bench) run(h worker.Handler) (stop func() error) {
	return b.runWith(map[string]worker.Handler{"act": h})
}

func (b *bench) runWith(handlers map[string]worker.Handler) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	b.ended = done
	connect := func(ctx context.Context) (space.Repository, error) {
		if b.refusedConnects++; b.refuse && b.refusedConnects%2 == 1 {
			return nil, fault.ErrOverloaded
		}
		conn, err := b.engine.Connect(ctx, "worker-"+string(rune('a'+len(b.repos))), sessionLost)
		if err != nil {
			return nil, err
		}
		if b.refuse {
			conn = spacetest.Refuse(conn, 7)
		}
		if b.wrap != nil {
			conn = b.wrap(conn)
		}
		repo := space.Over(conn)
		b.repos = append(b.repos, repo)
		return repo, nil
	}
	go func() {
		done <- worker.Run(ctx, connect, worker.Config{
			Handlers: handlers, Slots: 1, Heartbeat: 2 * time.Second, Drain: drain, Grace: grace,
			Log: slog.New(slog.NewTextHandler(b.log, nil)),
		})
	}()
	return func() error {
		cancel()
		return <-done
	}
}

func (b *bench) results() []tuple.Tuple {
	found, err := b.repo.Space(task.Result).QueryAll(b.t.Context(), task.AnyResult("act"))
	require.NoError(b.t, err)
	return found
}

// only returns the one waiting task.
func (b *bench) only() task.Item {
	all, _, err := task.Client{Repo: b.repo}.List(b.t.Context(), task.Filter{State: task.Waiting}, nil, 2)
	require.NoError(b.t, err)
	require.Len(b.t, all, 1, "one task waits")
	require.NoError(b.t, all[0].Err)
	return all[0].Item
}

// state returns the state of a session, empty if there is no such session.
func (b *bench) state(id string) string {
	t, _, err := b.repo.Space(status.Space).QueryP(b.t.Context(), status.StateOf(id))
	require.NoError(b.t, err)
	return status.DecodeState(t).State
}

func (b *bench) dead() int {
	n, err := b.repo.Space(task.Dead).Count(b.t.Context(), task.AnyDead())
	require.NoError(b.t, err)
	return n
}

// pass lets fake time pass until everything due by then has run.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// does makes a handler of a function.
type does func(ctx context.Context, job worker.Job) error

func (d does) Handle(ctx context.Context, job worker.Job) error { return d(ctx, job) }

func TestATaskIsReportedAndResolved(t *testing.T) {
	inBubble(t, func(b *bench) {
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			require.Equal(b.t, "act", job.Task().Action)
			require.NoError(b.t, job.Report(ctx, "p1", map[string]int{"n": 1}))
			return job.Resolve(ctx, "p2", map[string]int{"n": 2})
		}))
		b.create("act")
		synctest.Wait()
		results := b.results()
		require.Len(b.t, results, 2)
		require.Equal(b.t, `{"n":1}`, task.DecodeResult(results[0]).Body)
		require.False(b.t, task.DecodeResult(results[0]).Final)
		require.True(b.t, task.DecodeResult(results[1]).Final)
		require.Equal(b.t, "idle, last task: act t1", b.state("worker-a"))
		require.NoError(b.t, stop())
		require.Empty(b.t, b.state("worker-a"), "a closed session has no status")
	})
}

func TestTasksFinishAlthoughTheSpacesRefuseCalls(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.refuse = true
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			require.NoError(b.t, job.Report(ctx, "p1", nil))
			_ = job.Spend(ctx, models.Cost{How: "x", Tasks: 1})
			return job.Resolve(ctx, "p2", nil)
		}))
		for range 20 {
			b.create("act")
		}
		pass(5 * time.Minute)
		require.Len(b.t, b.results(), 40, "each task is done once")
		require.Len(b.t, b.repos, 1, "and no session was lost")
		require.NoError(b.t, stop())
	})
}

func TestATaskWithoutALeaseWhoseInputIsAtFaultIsADeadLetterWithTheReason(t *testing.T) {
	for name, h := range map[string]does{
		"a file that is missing": func(ctx context.Context, job worker.Job) error {
			return job.Resolve(ctx, "p", models.Researched{Problem: "no such file: /x.wav: invalid"})
		},
		"a body that is refused": func(context.Context, worker.Job) error {
			return fmt.Errorf("no such file: want a path: %w", fault.ErrInvalid)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				stop := b.run(h)
				b.create("act")
				pass(3 * backoff)
				require.Equal(b.t, 1, b.dead(), "after four tries")
				all, _, err := task.Client{Repo: b.repo}.List(b.t.Context(), task.Filter{State: task.StateDead}, nil, 1)
				require.NoError(b.t, err)
				dead := all[0]
				require.EqualValues(b.t, 4, dead.Attempts)
				require.Contains(b.t, dead.Reason, "no such file")
				require.NotContains(b.t, dead.Reason, "invalid: invalid")
				require.Empty(b.t, b.results(), "which no manager would record")
				require.NoError(b.t, stop())
			})
		})
	}
}

func TestTheStatusSaysWhatIsWorkedOn(t *testing.T) {
	inBubble(t, func(b *bench) {
		proceed := make(chan struct{})
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			<-proceed
			return job.Resolve(ctx, "", nil)
		}))
		b.create("act")
		synctest.Wait()
		require.Equal(b.t, "Working on: act t1", b.state("worker-a"))
		close(proceed)
		require.NoError(b.t, stop())
	})
}

func TestAnErrorReleasesTheTaskWithItsReason(t *testing.T) {
	for name, h := range map[string]does{
		"an error":        func(context.Context, worker.Job) error { return errors.New("no disk left") },
		"a panic":         func(context.Context, worker.Job) error { panic("no disk left") },
		"no last result":  func(ctx context.Context, job worker.Job) error { return job.Report(ctx, "p", nil) },
		"a nil reference": func(_ context.Context, job worker.Job) error { _ = *(*int)(nil); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				stop := b.run(h)
				b.create("act")
				pass(time.Second)
				require.NotEmpty(b.t, b.state("worker-a"), "the worker survives")
				require.NoError(b.t, stop())
				pass(backoff)
				i := b.only()
				require.EqualValues(b.t, 1, i.Attempts)
				require.Equal(b.t, []string{"worker-a"}, i.Claimants)
				require.Contains(b.t, i.History[0].String(), "worker-a: ")
			})
		})
	}
}

func TestFault32APoisonTaskDiesAndTheWorkerGoesOn(t *testing.T) {
	inBubble(t, func(b *bench) {
		stop := b.runWith(map[string]worker.Handler{
			"act":  does(func(context.Context, worker.Job) error { panic("poison") }),
			"good": does(func(ctx context.Context, job worker.Job) error { return job.Resolve(ctx, "", nil) }),
		})
		b.create("act")
		b.create("good")
		pass(4*backoff + time.Minute)
		require.Equal(b.t, 1, b.dead())
		good, err := b.repo.Space(task.Result).Count(b.t.Context(), task.AnyResult("good"))
		require.NoError(b.t, err)
		require.Equal(b.t, 1, good)
		require.NoError(b.t, stop())
	})
}

func TestATaskThatTimesOutIsStopped(t *testing.T) {
	inBubble(t, func(b *bench) {
		var cause error
		stop := b.run(does(func(ctx context.Context, _ worker.Job) error {
			<-ctx.Done()
			cause = context.Cause(ctx)
			return cause
		}))
		b.create("act")
		pass(timeout)
		require.ErrorContains(b.t, cause, "timed out after 10m0s")
		require.NoError(b.t, stop())
		pass(backoff)
		require.EqualValues(b.t, 1, b.only().Attempts, "counted once")
	})
}

func TestADrainLetsTheTaskFinish(t *testing.T) {
	inBubble(t, func(b *bench) {
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			<-job.Draining()
			<-time.After(drain / 2)
			return job.Resolve(ctx, "", nil)
		}))
		b.create("act")
		synctest.Wait()
		require.NoError(b.t, stop())
		require.Len(b.t, b.results(), 1)
	})
}

func TestADrainHandsBackWhatDoesNotFinishAndCountsNothing(t *testing.T) {
	for name, h := range map[string]does{
		"it ends with its context": func(ctx context.Context, _ worker.Job) error { <-ctx.Done(); return context.Cause(ctx) },
		"it gives up at once":      func(_ context.Context, job worker.Job) error { <-job.Draining(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				stop := b.run(h)
				b.create("act")
				synctest.Wait()
				require.NoError(b.t, stop())
				i := b.only()
				require.Zero(b.t, i.Attempts)
				require.Empty(b.t, i.Claimants)
			})
		})
	}
}

func TestAHandlerThatDoesNotStopIsAnError(t *testing.T) {
	inBubble(t, func(b *bench) {
		release := make(chan struct{})
		stop := b.run(does(func(context.Context, worker.Job) error { <-release; return nil }))
		b.create("act")
		pass(timeout + 2*grace)
		require.ErrorIs(b.t, stop(), worker.ErrStuck)
		close(release)
	})
}

func TestALostSessionIsReplaced(t *testing.T) {
	inBubble(t, func(b *bench) {
		attempts := 0
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			if attempts++; attempts == 1 {
				<-ctx.Done()
				return context.Cause(ctx)
			}
			return job.Resolve(ctx, "", nil)
		}))
		b.create("act")
		synctest.Wait()
		require.NoError(b.t, b.repos[0].Close(b.t.Context()), "without the worker")
		pass(backoff + 10*time.Second)
		require.Len(b.t, b.repos, 2)
		require.Len(b.t, b.results(), 1)
		require.NoError(b.t, stop())
	})
}
