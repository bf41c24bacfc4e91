package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
	"leasehold/worker"
)

// changing is a session whose requests a function may answer; ok is false for those that go on.
type changing struct {
	space.Conn
	answer func(ctx context.Context, r space.Request, next space.Conn) (reply space.Reply, ok bool, err error)
}

func (c changing) Do(ctx context.Context, r space.Request) (space.Reply, error) {
	if reply, ok, err := c.answer(ctx, r, c.Conn); ok {
		return reply, err
	}
	return c.Conn.Do(ctx, r)
}

// resolves is a handler that resolves each task at once.
var resolves = does(func(ctx context.Context, job worker.Job) error { return job.Resolve(ctx, "", nil) })

// The claim may be answered in the moment in which the worker is asked to stop.
func TestATaskThatIsClaimedAsTheWorkerDrainsIsHandedBack(t *testing.T) {
	inBubble(t, func(b *bench) {
		handedBack := 0
		b.wrap = func(c space.Conn) space.Conn {
			return changing{c, func(ctx context.Context, r space.Request, next space.Conn) (space.Reply, bool, error) {
				switch r.Procedure {
				case "task.claim":
					reply, err := next.Do(ctx, r)
					<-ctx.Done()
					return reply, true, err
				case "task.handback":
					handedBack++
				}
				return space.Reply{}, false, nil
			}}
		}
		b.create("act")
		stop := b.run(does(func(context.Context, worker.Job) error { b.t.Error("the worker drains"); return nil }))
		synctest.Wait()
		require.NoError(b.t, stop())
		require.Equal(b.t, 1, handedBack)
		require.Zero(b.t, b.only().Attempts)
	})
}

func TestTasksAreHandedBackUntilHalfOfTheGraceHasPassed(t *testing.T) {
	inBubble(t, func(b *bench) {
		began, tried := time.Now(), time.Duration(0)
		b.wrap = func(c space.Conn) space.Conn {
			return changing{c, func(ctx context.Context, r space.Request, _ space.Conn) (space.Reply, bool, error) {
				if r.Procedure != "task.handback" {
					return space.Reply{}, false, nil
				}
				<-ctx.Done()
				tried = time.Since(began)
				return space.Reply{}, true, space.ContextError(ctx)
			}}
		}
		b.create("act")
		stop := b.run(does(func(ctx context.Context, _ worker.Job) error { <-ctx.Done(); return ctx.Err() }))
		synctest.Wait()
		require.NoError(b.t, stop())
		require.Equal(b.t, drain+grace/2, tried)
		require.Equal(b.t, tried, time.Since(began), "the session is closed at once")
		require.Zero(b.t, b.only().Attempts, "it returned with the session")
	})
}

// Another worker may have the task already, or the session is gone.
func TestATaskThatWasTakenAwayIsNotGivenBack(t *testing.T) {
	for name, take := range map[string]func(b *bench, broken *atomic.Bool){
		"cancelled": func(b *bench, _ *atomic.Bool) {
			require.NoError(b.t, task.Client{Repo: b.repo}.Cancel(b.t.Context(), "t1", "by hand"))
		},
		"the session failed": func(b *bench, broken *atomic.Bool) {
			broken.Store(true)
			require.NoError(b.t, b.drain("worker-1")) // a message that cannot be received
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				calls := map[string]int{}
				var broken atomic.Bool
				var cause error
				stop := b.runFlaky(does(func(ctx context.Context, _ worker.Job) error {
					<-ctx.Done()
					cause = context.Cause(ctx)
					return cause
				}), func(_ int, op string) error {
					calls[op]++
					if op == "receive" && broken.Load() {
						return fmt.Errorf("receive: %w", fault.ErrCorrupt)
					}
					return nil
				})
				b.create("act")
				synctest.Wait()
				take(b, &broken)
				synctest.Wait()
				require.Error(b.t, cause, "its context has ended")
				if err := stop(); broken.Load() {
					require.ErrorIs(b.t, err, fault.ErrCorrupt)
				} else {
					require.NoError(b.t, err)
				}
				require.Zero(b.t, calls["task.release"]+calls["task.handback"], "%v", calls)
			})
		})
	}
}

// A task may end while the message that stops it is under way.
func TestAMessageThatStopsATaskThatHasEndedIsIgnored(t *testing.T) {
	inBubble(t, func(b *bench) {
		told := false
		b.wrap = func(c space.Conn) space.Conn {
			return changing{c, func(_ context.Context, r space.Request, _ space.Conn) (space.Reply, bool, error) {
				if r.Verb != space.VerbReceive || told {
					return space.Reply{}, false, nil
				}
				told = true
				return space.Reply{Tuple: tuple.New("stop", "t999", "timed out")}, true, nil
			}}
		}
		stop := b.run(resolves)
		b.create("act")
		synctest.Wait()
		require.True(b.t, told)
		require.Len(b.t, b.results(), 1)
		require.NoError(b.t, stop())
	})
}

func TestALastResultThatIsRepeatedClaimsTheNextTask(t *testing.T) {
	inBubble(t, func(b *bench) {
		calls := map[string]int{}
		b.create("act")
		b.create("act")
		stop := b.runFlaky(does(func(ctx context.Context, job worker.Job) error {
			if err := job.Resolve(ctx, "", nil); !errors.Is(err, fault.ErrTooLarge) {
				return err
			}
			return job.Resolve(ctx, "", nil)
		}), func(_ int, op string) error {
			if calls[op]++; op == "task.next" && calls[op] == 1 {
				return fmt.Errorf("result: %w", fault.ErrTooLarge)
			}
			return nil
		})
		pass(time.Second)
		require.Len(b.t, b.results(), 2)
		require.Equal(b.t, 2, calls["task.claim"], "for the first task, and when there was none")
		require.NoError(b.t, stop())
	})
}

func TestAWorkerTellsItsSlotsAndWhyItsSessionEnded(t *testing.T) {
	inBubble(t, func(b *bench) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		connect := func(ctx context.Context) (space.Repository, error) { return b.engine.Session(ctx, "worker-a", 0) }
		go func() {
			done <- worker.Run(ctx, connect, worker.Config{
				Handlers: map[string]worker.Handler{"act": resolves, "mail": resolves, "call": resolves}, Slots: 3, OwnSlots: map[string]int{"mail": 2},
				Heartbeat: 2 * time.Second, Drain: drain, Grace: grace,
			})
		}()
		synctest.Wait()
		found, err := b.repo.Space(status.Space).QueryAll(b.t.Context(), status.MatchServing("worker-a", tuple.AnyString))
		require.NoError(b.t, err)
		serves := map[string]int64{}
		for _, f := range found {
			s := status.DecodeServing(f)
			serves[s.Action] = s.Slots
		}
		require.Equal(b.t, map[string]int64{"act": 3, "call": 3, "mail": 2}, serves)
		cancel()
		require.NoError(b.t, <-done)
		lines, err := status.Lines(b.t.Context(), b.repo)
		require.NoError(b.t, err)
		require.True(b.t, slices.ContainsFunc(lines, func(l status.Line) bool {
			return l.ID == "worker-a" && l.Message == "session ended: stopped; tasks that had not finished were handed back"
		}), "%v", lines)
	})
}

// A handler may have started goroutines that end with its context.
func TestTheContextOfAHandlerEndsWithIt(t *testing.T) {
	inBubble(t, func(b *bench) {
		var of context.Context
		stop := b.run(does(func(ctx context.Context, job worker.Job) error { of = ctx; return job.Resolve(ctx, "", nil) }))
		b.create("act")
		synctest.Wait()
		require.ErrorIs(b.t, of.Err(), context.Canceled)
		require.NoError(b.t, stop())
	})
}

// The coordinator refuses a delay over ten years, and a refused call would end the session of the worker.
func TestATaskThatIsHandedBackForCenturiesDoesNotEndTheWorker(t *testing.T) {
	inBubble(t, func(b *bench) {
		stop := b.run(does(func(context.Context, worker.Job) error {
			return worker.Later(200*365*24*time.Hour, errors.New("much later"))
		}))
		b.create("act")
		synctest.Wait()
		require.Equal(b.t, int64(0), b.only().Attempts)
		require.NoError(b.t, stop())
	})
}

func TestTheLogTellsWhatBecameOfATaskThatWasNotResolved(t *testing.T) {
	broken := errors.New("broken")
	for want, handle := range map[string]does{
		"task released, another worker may try": func(context.Context, worker.Job) error { return broken },
		"no worker can do the task":             func(context.Context, worker.Job) error { return worker.GiveUp(broken) },
		"task handed back for later":            func(context.Context, worker.Job) error { return worker.Later(time.Hour, broken) },
		"task handed back":                      func(_ context.Context, job worker.Job) error { <-job.Draining(); return nil },
	} {
		t.Run(want, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				var log bytes.Buffer
				b.log = &log
				stop := b.run(handle)
				b.create("act")
				synctest.Wait()
				require.NoError(b.t, stop())
				require.Contains(b.t, log.String(), `msg="worker: `+want+`"`)
				require.Regexp(b.t, `session=\S+ task=t1 action=act subject=s`, log.String())
			})
		})
	}
}
