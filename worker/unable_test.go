package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
	"leasehold/worker"
)

// slots returns how many slots a session reports for an action.
func (b *bench) slots(session, action string) int64 {
	b.t.Helper()
	found, err := b.repo.Space(status.Space).QueryAll(b.t.Context(), status.MatchServing(session, action))
	require.NoError(b.t, err)
	require.Len(b.t, found, 1)
	return status.DecodeServing(found[0]).Slots
}

func TestAFaultOfTheMachineCountsNoAttemptAndPausesItsAction(t *testing.T) {
	for name, cause := range map[string]error{
		"disk full": &fs.PathError{Op: "write", Path: "/cache/x", Err: syscall.ENOSPC}, "read-only": syscall.EROFS,
		"descriptors": fmt.Errorf("dial: %w", syscall.EMFILE), "memory": syscall.ENOMEM,
		"processes": &fs.PathError{Op: "fork/exec", Path: "/bin/x", Err: syscall.EAGAIN}, "program": worker.Unable(errors.New("no such program")),
		"later": worker.Later(time.Hour, syscall.ENOSPC),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				var broken atomic.Bool
				broken.Store(true)
				var tries []time.Duration
				mails := 0
				began := time.Now()
				var log bytes.Buffer
				b.log = &log
				stop := b.runWith(map[string]worker.Handler{
					"act": does(func(ctx context.Context, job worker.Job) error {
						tries = append(tries, time.Since(began))
						if broken.Load() {
							return cause
						}
						return job.Resolve(ctx, "", nil)
					}),
					"mail": does(func(ctx context.Context, job worker.Job) error { mails++; return job.Resolve(ctx, "", nil) }),
				})
				b.create("act")
				synctest.Wait()
				require.Zero(b.t, b.only().Attempts)
				require.Empty(b.t, b.only().Claimants, "it may have the task again")
				pass(time.Second)
				require.Zero(b.t, b.slots("worker-a", "act"), "managers issue nothing for it")
				require.EqualValues(b.t, 1, b.slots("worker-a", "mail"))
				state := b.state("worker-a")
				require.True(b.t, strings.HasPrefix(state, "cannot do act on ") && strings.Contains(state, cause.Error()), state)
				b.create("mail")
				synctest.Wait()
				require.Equal(b.t, 1, mails, "it does the other action")
				pass(70 * time.Second)
				require.Equal(b.t, []time.Duration{0, 2 * time.Second, 6 * time.Second, 14 * time.Second, 30 * time.Second, 62 * time.Second}, tries)
				require.Zero(b.t, b.only().Attempts)
				broken.Store(false)
				pass(2 * time.Minute)
				require.Len(b.t, b.results(), 1)
				require.EqualValues(b.t, 1, b.slots("worker-a", "act"))
				require.Equal(b.t, "idle, last task: act t1", b.state("worker-a"))
				require.Contains(b.t, log.String(), "this machine cannot do the action")
				require.NoError(b.t, stop())
			})
		})
	}
}

func TestATaskThatOneMachineCannotDoIsDoneByAnother(t *testing.T) {
	inBubble(t, func(b *bench) {
		broken := b.run(does(func(context.Context, worker.Job) error { return syscall.ENOSPC }))
		synctest.Wait()
		for range 14 {
			b.create("act")
		}
		pass(time.Second)
		healthy := b.run(resolves)
		pass(5 * time.Minute)
		require.Len(b.t, b.results(), 14)
		require.NoError(b.t, broken())
		require.NoError(b.t, healthy())
	})
}

// A file, a folder or a program that the task names may be on another machine.
func TestATaskForWhichAMachineLacksAFileGoesToAnotherAndCountsOnlyIfAllLackIt(t *testing.T) {
	inBubble(t, func(b *bench) {
		tried := map[string]int{}
		lacks := func(name string, has bool) does {
			return func(ctx context.Context, job worker.Job) error {
				if tried[name]++; has {
					return job.Resolve(ctx, "", nil)
				}
				return fmt.Errorf("open: %w", fs.ErrNotExist)
			}
		}
		a := b.run(lacks("a", false))
		synctest.Wait()
		second := b.run(lacks("b", true))
		synctest.Wait()
		b.create("act")
		pass(time.Minute)
		require.Len(b.t, b.results(), 1)
		require.LessOrEqual(b.t, tried["a"], 1)
		require.NoError(b.t, second())
		pass(3 * time.Minute)
		third := b.run(lacks("c", false))
		synctest.Wait()
		b.create("act")
		pass(time.Second)
		i := b.only()
		require.EqualValues(b.t, 1, i.Attempts)
		require.Contains(b.t, i.History[0].Error, "worker worker-")
		require.Contains(b.t, i.History[0].Error, "; before it worker-")
		require.NoError(b.t, a())
		require.NoError(b.t, third())
	})
}

// Its machine may be able to do the task once its pause is over.
func TestAWorkerThatIsPausedIsAskedBeforeAllAgree(t *testing.T) {
	inBubble(t, func(b *bench) {
		full := b.run(does(func(context.Context, worker.Job) error { return syscall.ENOSPC }))
		synctest.Wait()
		b.create("act")
		pass(time.Minute)
		lacks := b.run(does(func(context.Context, worker.Job) error { return fs.ErrNotExist }))
		pass(5 * time.Minute)
		all, _, err := task.Client{Repo: b.repo}.List(b.t.Context(), task.Filter{}, nil, 2)
		require.NoError(b.t, err)
		require.Len(b.t, all, 1)
		require.Zero(b.t, all[0].Attempts)
		require.NoError(b.t, full())
		require.NoError(b.t, task.Client{Repo: b.repo}.ReviveStuck(b.t.Context(), "act")) // as a manager does
		pass(5 * time.Minute)
		require.Equal(b.t, 1, b.dead(), "it has left")
		require.NoError(b.t, lacks())
	})
}

func TestAHandlerIsToldWhoLacksWhatItsTaskNeeds(t *testing.T) {
	inBubble(t, func(b *bench) {
		missing := errors.New("no such file")
		var told error
		stop := b.run(does(func(ctx context.Context, job worker.Job) error {
			told = job.PassOn(ctx, missing)
			return job.Resolve(ctx, "", nil)
		}))
		b.create("act")
		synctest.Wait()
		require.ErrorIs(b.t, told, missing)
		require.ErrorContains(b.t, told, "no such file (worker worker-a on ")
		require.Len(b.t, b.results(), 1, "it still has the task")
		require.NoError(b.t, stop())
		n, err := b.repo.Space(task.Space).Count(b.t.Context(), tuple.Template(task.Any()))
		require.NoError(b.t, err)
		require.Zero(b.t, n)
	})
}
