package task_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal/pebble"
)

var manyTasks = flag.Int("tasks.many", 1_000_000, "tasks that wait in BenchmarkManyWaiting")

// queue is an engine on a journal on disk, with a session of a client of tasks.
type queue struct {
	client task.Client
	stop   func()
}

// openQueue opens the queue of a folder.
func openQueue(b *testing.B, dir string) queue {
	b.Helper()
	j, err := pebble.Open(pebble.Config{Dir: dir})
	require.NoError(b, err)
	policy := task.Policy{MaxAttempts: 3, Backoff: backoff}
	e, err := engine.Open(b.Context(), engine.Config{Journal: j, Takes: task.Takes(), Readers: task.Readers(),
		Procedures: space.Join(policy.Procedures(), policy.AdminProcedures(), lease.Procedures(), status.Procedures())})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	repo, err := e.Session(b.Context(), "bench", time.Hour)
	require.NoError(b, err)
	for _, spaces := range [][]space.Definition{task.Spaces(), lease.Spaces(), status.Spaces()} {
		for _, d := range spaces {
			if d.Name == task.Space {
				d.Options.Capacity = 2_000_000
			}
			require.NoError(b, repo.Create(b.Context(), d.Name, d.Options))
		}
	}
	return queue{task.Client{Repo: repo}, func() {
		cancel()
		require.NoError(b, <-done)
		require.NoError(b, j.Close())
	}}
}

// waitingTask returns a task of one of 1,000 actions and groups; one of ten is delayed.
func waitingTask(r *rand.Rand) task.New {
	t := models.Task{Action: fmt.Sprint("action-", r.IntN(1000)), Timeout: 600, Data: []byte(`"` + fmt.Sprintf("%030d", r.Int64()) + `"`),
		TaskOptions: models.TaskOptions{Group: fmt.Sprint("g", r.IntN(1000))}}
	if r.IntN(10) == 0 {
		t.NotBefore = time.Now().Add(time.Hour)
	}
	return task.New{Task: t}
}

// fill creates n tasks.
func (q queue) fill(b *testing.B, r *rand.Rand, n int) {
	b.Helper()
	for n > 0 {
		some := make([]task.New, min(n, 1000))
		for k := range some {
			some[k] = waitingTask(r)
		}
		_, err := q.client.CreateAll(b.Context(), some...)
		require.NoError(b, err)
		n -= len(some)
	}
}

// costs measures each verb 200 times and returns the medians.
func (q queue) costs(b *testing.B, r *rand.Rand) map[string]time.Duration {
	b.Helper()
	var created []task.Item
	var cursor task.Cursor
	measured := map[string]time.Duration{}
	for _, verb := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error {
			w := waitingTask(r)
			w.NotBefore = time.Time{}
			i, err := q.client.CreateAll(b.Context(), w)
			created = append(created, i...)
			return err
		}},
		{"claim and hand back", func() error {
			i, err := q.client.Claim(b.Context(), created[r.IntN(len(created))].Action)
			if err == nil {
				err = q.client.HandBack(b.Context(), i)
			}
			return err
		}},
		{"list 1 of an action", func() error {
			_, _, err := q.client.List(b.Context(), task.Filter{Action: created[r.IntN(len(created))].Action}, nil, 1)
			return err
		}},
		{"list 20 of a state", func() error {
			_, _, err := q.client.List(b.Context(), task.Filter{State: task.StateDelayed}, nil, 20)
			return err
		}},
		{"next page of 20", func() (err error) {
			_, cursor, err = q.client.List(b.Context(), task.Filter{}, cursor, 20)
			return err
		}},
		{"counts of an action", func() error {
			_, err := q.client.Counts(b.Context(), created[r.IntN(len(created))].Action)
			return err
		}},
	} {
		var took []time.Duration
		for range 200 {
			began := time.Now()
			require.NoError(b, verb.do())
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		measured[verb.name] = took[len(took)/2]
	}
	return measured
}

func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkManyWaiting compares the verbs beside a million waiting tasks with those beside a
// thousand, and prints the heap of each task and the time of a restart.
func BenchmarkManyWaiting(b *testing.B) {
	for b.Loop() {
		r := rand.New(rand.NewPCG(15, 2))
		few := openQueue(b, b.TempDir())
		few.fill(b, r, 1000)
		dir := b.TempDir()
		before := liveHeap()
		many := openQueue(b, dir)
		began := time.Now()
		many.fill(b, r, *manyTasks)
		b.ReportMetric(float64(*manyTasks)/time.Since(began).Seconds(), "created/s")
		b.ReportMetric(float64(liveHeap()-before)/float64(*manyTasks), "B/task")
		beside, beyond := few.costs(b, r), many.costs(b, r)
		for name, d := range beyond {
			b.Logf("%s: %v beside 1,000, %v beside %d: %.2f times", name, beside[name], d, *manyTasks, float64(d)/float64(beside[name]))
		}
		many.stop()
		began = time.Now()
		many = openQueue(b, dir)
		b.ReportMetric(time.Since(began).Seconds(), "restart-s")
		many.stop()
		few.stop()
	}
}
