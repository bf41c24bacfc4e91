package worktest

import (
	"context"
	"flag"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/lease"
	"leasehold/shared/space"
)

// leakTasks is how many tasks the leak test runs; make soak runs a million.
var leakTasks = flag.Int("leak.tasks", 5000, "tasks that go through one process in the leak test")

// use is the resources of a process.
type use struct {
	heap       int64
	goroutines int
}

func inUse() use {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // memory that finalizers freed
	runtime.ReadMemStats(&m)
	return use{int64(m.HeapAlloc), runtime.NumGoroutine()}
}

// TestFault60TasksLeaveNothingBehind is not parallel, so that it measures itself.
func TestFault60TasksLeaveNothingBehind(t *testing.T) {
	f := open(t, t, Direct, policy)
	defer f.close()
	f.journal.Before = nil   // the fixture would keep every record
	f.sessionTTL = time.Hour // this runs in real time, on a machine that may pause for long
	m, w := f.manager("manager-1"), f.worker("worker-1", 1)
	through := func(n int) {
		for i := range n {
			m.issue(toDig("site-"+strconv.Itoa(i)), 0)
			item, err := w.task.Claim(context.Background(), dig)
			require.NoError(t, err)
			require.NoError(t, w.report(item, "", true))
			step, err := m.work.Next(context.Background(), dig, false)
			require.NoError(t, err)
			require.NoError(t, m.work.Ingested(context.Background(), step.Result))
			f.forget()
		}
	}
	through(1000) // caches and slices find their size
	start := inUse()
	through(*leakTasks)
	require.Equal(t, 1000+*leakTasks, f.total(lease.Revoked))
	require.NoError(t, f.engine.TrimHistory(context.Background(), space.HistoryLimits{Age: time.Hour, Number: 1000, Bytes: 1 << 40}))
	deadline := time.Now().Add(10 * time.Second)
	end := inUse()
	for end.goroutines > start.goroutines && time.Now().Before(deadline) {
		runtime.Gosched()
		end = inUse()
	}
	require.LessOrEqual(t, end.goroutines, start.goroutines)
	require.Less(t, end.heap-start.heap, int64(256<<10), "bytes of heap that %d tasks have left", *leakTasks)
	t.Logf("%d tasks: %+d bytes of heap, %+d goroutines", *leakTasks, end.heap-start.heap, end.goroutines-start.goroutines)
}

// forget drops the events that the fixture keeps.
func (f *fixture) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = f.events[:0]
}
