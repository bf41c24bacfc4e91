package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
	"leasehold/worker"
)

// flaky is a session whose calls fail when fails returns an error for them. Receive is
// named "receive", and other operations by their procedure.
type flaky struct {
	space.Conn
	fails func(op string) error
}

func (f *flaky) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if r.Verb == space.VerbReceive {
		reply, err := f.Conn.Do(ctx, r)
		if failure := f.fails("receive"); failure != nil {
			return space.Reply{}, failure
		}
		return reply, err
	}
	if err := f.fails(r.Procedure); err != nil {
		return space.Reply{}, err
	}
	return f.Conn.Do(ctx, r)
}

// runFlaky starts a worker whose sessions fail, each numbered from 1; stop drains it and
// returns what Run returned. The calls of fails are serialized, because a session is used
// by several goroutines.
func (b *bench) runFlaky(h worker.Handler, fails func(session int, op string) error) (stop func() error) {
	var mu sync.Mutex
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	b.ended = done
	connect := func(ctx context.Context) (space.Repository, error) {
		n := len(b.repos) + 1
		c, err := b.engine.Connect(ctx, fmt.Sprint("worker-", n), sessionLost)
		if err != nil {
			return nil, err
		}
		repo := space.Over(&flaky{c, func(op string) error {
			mu.Lock()
			defer mu.Unlock()
			return fails(n, op)
		}})
		b.repos = append(b.repos, repo)
		return repo, nil
	}
	go func() {
		done <- worker.Run(ctx, connect, worker.Config{
			Handlers: map[string]worker.Handler{"act": h}, Slots: 1, Heartbeat: 2 * time.Second, Drain: drain, Grace: grace,
			Log: slog.New(slog.NewTextHandler(b.log, nil)),
		})
	}()
	return func() error {
		cancel()
		return <-done
	}
}

func TestAResolvedTaskIsNotReleasedThoughItsHandlerFails(t *testing.T) {
	for name, end := range map[string]func() error{
		"it returns an error": func() error { return errors.New("could not remove a file") },
		"it panics":           func() error { panic("could not remove a file") },
		"it returns":          func() error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				calls := map[string]int{}
				stop := b.runFlaky(does(func(ctx context.Context, job worker.Job) error {
					require.NoError(b.t, job.Resolve(ctx, "p", nil))
					return end()
				}), func(_ int, op string) error { calls[op]++; return nil })
				b.create("act")
				pass(timeout)
				require.NoError(b.t, stop())
				require.Len(b.t, b.results(), 1)
				require.Zero(b.t, b.dead())
				require.Zero(b.t, calls["task.release"]+calls["task.handback"], "%v", calls)
			})
		})
	}
}

func TestAHandlerIsToldThatItsReportFailed(t *testing.T) {
	inBubble(t, func(b *bench) {
		refused := 0
		var reported, resolved error
		stop := b.runFlaky(does(func(ctx context.Context, job worker.Job) error {
			if reported == nil {
				reported = job.Report(ctx, "p1", nil)
				resolved = job.Resolve(ctx, "p2", nil)
				return resolved
			}
			return job.Resolve(ctx, "p2", nil)
		}), func(_ int, op string) error {
			if (op == "task.report" || op == "task.next") && refused < 2 {
				refused++
				return fmt.Errorf("result: %w", fault.ErrTooLarge)
			}
			return nil
		})
		b.create("act")
		pass(time.Second)
		require.ErrorIs(b.t, reported, fault.ErrTooLarge)
		require.ErrorIs(b.t, resolved, fault.ErrTooLarge)
		require.Empty(b.t, b.results())
		require.NoError(b.t, stop())
		pass(backoff)
		i := b.only()
		require.EqualValues(b.t, 1, i.Attempts, "a task whose result was refused is released, not done")
		require.Contains(b.t, i.History[0].String(), "worker-1: result: ")
	})
}

func TestTheHistoryOfATaskNamesAPanic(t *testing.T) {
	inBubble(t, func(b *bench) {
		stop := b.run(does(func(context.Context, worker.Job) error { panic("no disk left") }))
		b.create("act")
		pass(time.Second)
		require.NoError(b.t, stop())
		pass(backoff)
		require.Equal(b.t, []string{"worker-a: the handler panicked: no disk left"}, models.Errors(b.only().History))
	})
}

func TestASessionThatCannotReceiveIsReplacedOrEndsTheWorker(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		sessions int
	}{
		"lost":          {fmt.Errorf("receive: %w", fault.ErrClosed), 2},
		"another error": {fmt.Errorf("receive: %w", fault.ErrCorrupt), 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				stop := b.runFlaky(does(func(ctx context.Context, job worker.Job) error { return job.Resolve(ctx, "", nil) }),
					func(session int, op string) error {
						if session == 1 && op == "receive" {
							return c.err
						}
						return nil
					})
				synctest.Wait()
				first := b.repos[0]
				_, err := b.repo.Call(b.t.Context(), space.OpID{}, "status.drain", tuple.New(first.Session()))
				require.NoError(b.t, err) // a message that the worker cannot read
				pass(10 * time.Second)
				require.Len(b.t, b.repos, c.sessions)
				if c.sessions == 1 {
					require.ErrorIs(b.t, <-b.ended, fault.ErrCorrupt, "a worker that hears neither drain nor stop ends")
					return
				}
				b.create("act")
				pass(time.Second)
				require.Len(b.t, b.results(), 1, "the new session works")
				require.NoError(b.t, stop())
			})
		})
	}
}

func TestAMalformedTaskIsLeftAndTheNextOneIsDone(t *testing.T) {
	inBubble(t, func(b *bench) {
		var handled []string
		claims, released := 0, 0
		stop := b.runFlaky(does(func(ctx context.Context, job worker.Job) error {
			handled = append(handled, job.Task().ID)
			return job.Resolve(ctx, "", nil)
		}), func(_ int, op string) error {
			if op == "task.release" {
				released++
			}
			if op != "task.claim" {
				return nil
			}
			if claims++; claims == 2 {
				return fmt.Errorf("task: %w", fault.ErrCorrupt)
			}
			return nil
		})
		for range 3 {
			b.create("act")
		}
		pass(time.Second)
		require.Len(b.t, handled, 3)
		require.Zero(b.t, released, "no task is run without having been read")
		require.Len(b.t, b.results(), 3)
		require.NoError(b.t, stop())
	})
}

func TestATaskThatCannotBeReleasedEndsTheSession(t *testing.T) {
	inBubble(t, func(b *bench) {
		attempts := 0
		stop := b.runFlaky(does(func(ctx context.Context, job worker.Job) error {
			if attempts++; attempts == 1 {
				return errors.New("no disk left")
			}
			return job.Resolve(ctx, "", nil)
		}), func(session int, op string) error {
			if session == 1 && op == "task.release" {
				return fmt.Errorf("release: %w", fault.ErrClosed)
			}
			return nil
		})
		b.create("act")
		pass(time.Minute)
		require.Len(b.t, b.repos, 2, "a new session")
		require.Len(b.t, b.results(), 1, "the task went back with the old one")
		require.NoError(b.t, stop())
	})
}

func TestAClaimThatFailsEndsTheWorkerWithItsError(t *testing.T) {
	inBubble(t, func(b *bench) {
		var refuse atomic.Bool
		b.runFlaky(does(func(ctx context.Context, job worker.Job) error {
			refuse.Store(true)
			return job.Resolve(ctx, "", nil)
		}), func(_ int, op string) error {
			if op == "task.claim" && refuse.Load() {
				return fmt.Errorf("claim: %w", fault.ErrInvalid)
			}
			return nil
		})
		b.create("act")
		require.ErrorIs(b.t, <-b.ended, fault.ErrInvalid)
		require.Len(b.t, b.results(), 1)
	})
}

// cutting is a session whose first answer of task.next has a claimed task that cannot be read.
type cutting struct {
	space.Conn
	cut *bool // whether one was cut
}

func (c cutting) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	reply, err := c.Conn.Do(ctx, r)
	if claimed, ok := claimedIn(reply); r.Procedure == "task.next" && ok && !*c.cut {
		*c.cut = true
		reply.Tuple = reply.Tuple.Clone()
		reply.Tuple[1] = claimed[:len(claimed)-1]
	}
	return reply, err
}

// claimedIn returns the claimed tasks in an answer of task.next, and reports whether there are any.
func claimedIn(reply space.Reply) (data []byte, ok bool) {
	if len(reply.Tuple) < 2 {
		return nil, false
	}
	data, _ = reply.Tuple[1].([]byte)
	return data, len(data) > 0
}

// The result of a task counts though the task that was claimed with it cannot be read. That one times out.
func TestAResultCountsThoughTheNextTaskIsMalformed(t *testing.T) {
	inBubble(t, func(b *bench) {
		cut := false
		var resolved []error
		b.wrap = func(c space.Conn) space.Conn { return cutting{c, &cut} }
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			err := job.Resolve(ctx, "", nil)
			resolved = append(resolved, err)
			return err
		}))
		synctest.Wait()
		for range 3 {
			b.create("act")
		}
		pass(time.Minute)
		require.True(b.t, cut)
		require.Equal(b.t, []error{nil, nil}, resolved)
		require.Len(b.t, b.results(), 2, "the worker claimed another one")
		pass(timeout + backoff)
		require.Len(b.t, b.results(), 3)
		require.NoError(b.t, stop())
	})
}

// silent is a session whose coordinator answers nothing any more.
type silent struct {
	space.Conn
	off *atomic.Bool
}

func (s silent) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if s.off.Load() {
		<-ctx.Done()
		return space.Reply{}, space.ContextError(ctx)
	}
	return s.Conn.Do(ctx, r)
}

// The process may be asked to stop because its network is gone.
func TestADrainEndsThoughTheCoordinatorDoesNotAnswer(t *testing.T) {
	inBubble(t, func(b *bench) {
		var off atomic.Bool
		b.wrap = func(c space.Conn) space.Conn { return silent{c, &off} }
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			<-ctx.Done()
			return ctx.Err()
		}))
		b.create("act")
		synctest.Wait()
		off.Store(true)
		began := time.Now()
		require.NoError(b.t, stop())
		require.Equal(b.t, drain+grace, time.Since(began), "it tries to close the session until then")
	})
}

// A coordinator that ends the session while the worker drains has what the worker wanted.
func TestASessionThatEndsDuringADrainIsNoError(t *testing.T) {
	for name, c := range map[string]struct{ err, want error }{
		"closed":        {fmt.Errorf("release: %w", fault.ErrClosed), nil},
		"another error": {fmt.Errorf("release: %w", fault.ErrCorrupt), fault.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				stop := b.runFlaky(does(func(_ context.Context, job worker.Job) error { <-job.Draining(); return errors.New("no disk left") }),
					func(_ int, op string) error {
						if op == "task.release" {
							return c.err
						}
						return nil
					})
				b.create("act")
				synctest.Wait()
				require.ErrorIs(b.t, stop(), c.want)
				require.Len(b.t, b.repos, 1)
			})
		})
	}
}

func TestAJobTellsItsProgressItsCostsAndTheEndOfItsOutput(t *testing.T) {
	inBubble(t, func(b *bench) {
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			require.NoError(b.t, job.Note(ctx, models.Progress{Fraction: 0.5, Text: "half"}))
			require.NoError(b.t, job.Spend(ctx, models.Cost{Action: "other", How: "x", Tasks: 2}))
			<-time.After(time.Minute)
			return &worker.Failure{Err: errors.New("first\nsecond"), Output: "last line"}
		}))
		b.create("act")
		pass(time.Second)
		client := task.Client{Repo: b.repo}
		running, _, err := client.List(b.t.Context(), task.Filter{State: task.Claimed}, nil, 2)
		require.NoError(b.t, err)
		require.Equal(b.t, &models.Progress{Fraction: 0.5, Text: "half"}, running[0].Progress)
		costs, err := status.Costs(b.t.Context(), b.repo)
		require.NoError(b.t, err)
		require.Equal(b.t, []models.Cost{{Action: "act", How: "x", Tasks: 2}}, costs, "the action of the task")
		pass(time.Minute)
		require.NoError(b.t, stop())
		pass(backoff)
		last := b.only().History[0]
		require.Equal(b.t, []string{"first", "last line"}, []string{last.Error, last.Output})
	})
}
