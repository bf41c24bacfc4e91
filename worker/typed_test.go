package worker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/worker"
)

type sum struct{ A, B int }

// createWith creates a task of the action "act" with data.
func (b *bench) createWith(data string) task.Item {
	i, err := task.Client{Repo: b.repo}.Create(b.t.Context(), models.Task{
		Action: "act", Data: []byte(data), Timeout: models.SecondsOf(timeout), TaskOptions: models.TaskOptions{ResultTuple: true, ResultTTL: 3600},
	}, 0)
	require.NoError(b.t, err)
	return i
}

func TestAHandlerGetsTheResultsOfTheParents(t *testing.T) {
	inBubble(t, func(b *bench) {
		create := func(data string, after ...string) string {
			i, err := task.Client{Repo: b.repo}.Create(b.t.Context(), models.Task{
				Action: "act", Data: []byte(data), Timeout: models.SecondsOf(timeout), TaskOptions: models.TaskOptions{After: after},
			}, 0)
			require.NoError(b.t, err)
			return i.ID
		}
		parent := create("1")
		child := create("5", parent)
		last := create("7", parent, child)
		seen := map[string][]task.ParentResult{}
		stop := b.run(worker.Handle(func(_ context.Context, t worker.Task[int]) (int, error) {
			seen[t.Task().ID] = t.Parents()
			return t.Data + 1, nil
		}))
		synctest.Wait()
		require.NoError(t, stop())
		ofParent, ofChild := task.ParentResult{ID: parent, State: task.Resolved, Result: "2"}, task.ParentResult{ID: child, State: task.Resolved, Result: "6"}
		require.Equal(t, map[string][]task.ParentResult{parent: nil, child: {ofParent}, last: {ofParent, ofChild}}, seen)
	})
}

func TestATypedHandlerDecodesDataAndEncodesItsResult(t *testing.T) {
	inBubble(t, func(b *bench) {
		stop := b.run(worker.Handle(func(_ context.Context, t worker.Task[sum]) (int, error) { return t.Data.A + t.Data.B, nil }))
		b.createWith(`{"A": 3, "B": 4}`)
		b.createWith(``)
		synctest.Wait()
		require.Equal(t, "7", task.DecodeResult(b.results()[0]).Body)
		require.Equal(t, "0", task.DecodeResult(b.results()[1]).Body, "a task without data has the zero value")
		i := b.createWith(`"text"`)
		synctest.Wait()
		l, err := task.Client{Repo: b.repo}.DeadLetter(t.Context(), i.ID)
		require.NoError(t, err)
		require.Contains(t, l.Reason, "cannot unmarshal string", "no worker could decode it")
		require.NoError(t, stop())
	})
}

func TestErrorsOfHandlersReleaseDelayOrGiveUp(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		attempts int64
		dead     bool
	}{
		"release": {errors.New("broken"), 1, false},
		"later":   {worker.Later(time.Hour, errors.New("busy")), 0, false},
		"give up": {worker.GiveUp(errors.New("hopeless")), 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				i := b.createWith(`{}`)
				tried := make(chan bool, 100)
				stop := b.run(worker.Handle(func(context.Context, worker.Task[sum]) (int, error) { tried <- true; return 0, c.err }))
				synctest.Wait()
				require.Len(t, tried, 1)
				client := task.Client{Repo: b.repo}
				l, err := client.Show(t.Context(), i.ID)
				require.NoError(t, err)
				require.Equal(t, c.attempts, l.Attempts)
				if c.dead {
					_, err = client.DeadLetter(t.Context(), i.ID)
					require.NoError(t, err)
				}
				require.NoError(t, stop())
			})
		})
	}
}

func TestMiddlewareIsAroundEachHandlerAndMeasuresPanics(t *testing.T) {
	inBubble(t, func(b *bench) {
		var seen []string
		note := func(name string) worker.Middleware {
			return func(h worker.Handler) worker.Handler {
				return worker.HandlerFunc(func(ctx context.Context, job worker.Job) error {
					seen = append(seen, name)
					return h.Handle(ctx, job)
				})
			}
		}
		took := time.Duration(0)
		h := worker.Wrap(worker.HandlerFunc(func(context.Context, worker.Job) error {
			<-time.After(3 * time.Second)
			panic("oh")
		}), note("outer"), note("inner"), worker.Measure(func(_ string, d time.Duration, _ error) { took = d }))
		b.createWith(`{}`)
		stop := b.run(h)
		<-time.After(4 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"outer", "inner"}, seen)
		require.Equal(t, 3*time.Second, took)
		require.NoError(t, stop())
	})
}

func TestAnActionWithOwnSlotsTakesNoneOfTheOthers(t *testing.T) {
	inBubble(t, func(b *bench) {
		var mu sync.Mutex
		running := map[string]int{}
		release := make(chan bool)
		h := func(name string) worker.Handler {
			return worker.HandlerFunc(func(ctx context.Context, job worker.Job) error {
				mu.Lock()
				running[name]++
				mu.Unlock()
				<-release
				return job.Resolve(ctx, "", nil)
			})
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		connect := func(ctx context.Context) (space.Repository, error) { return b.engine.Session(ctx, "worker-a", 0) }
		c := worker.Config{
			Handlers: map[string]worker.Handler{"act": h("act"), "mail": h("mail")}, Slots: 1, OwnSlots: map[string]int{"mail": 2},
			Heartbeat: 2 * time.Second, Drain: drain, Grace: grace,
		}
		for range 4 {
			b.create("act")
			b.create("mail")
		}
		go func() { done <- worker.Run(ctx, connect, c) }()
		synctest.Wait()
		require.Equal(t, map[string]int{"act": 1, "mail": 2}, running)
		cancel()
		close(release)
		require.NoError(t, <-done)

		c.OwnSlots = map[string]int{"other": 2}
		require.ErrorIs(t, worker.Run(t.Context(), connect, c), fault.ErrInvalid)
		c.OwnSlots, c.Slots = nil, 0
		require.ErrorIs(t, worker.Run(t.Context(), connect, c), fault.ErrInvalid)
		c.Slots = 1
		for n := range status.MaxServed - 1 { // beside two others
			c.Handlers[fmt.Sprint("act-", n)] = h("act")
		}
		require.ErrorContains(t, worker.Run(t.Context(), connect, c), "63 actions: one worker does at most 62")
	})
}
