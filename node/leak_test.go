package node

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/worker"
)

// leakTasks is how many tasks the leak test runs; make soak runs a million.
var leakTasks = flag.Int("leak.tasks", 4000, "tasks that go through one coordinator on PostgreSQL in the leak test")

// use is what a process and its realm take.
type use struct {
	heap              int64
	goroutines, files int
	log, facts, ended int   // rows
	dead              int   // rows of all tables that no transaction sees, as autovacuum counts them
	size              int64 // of the realm in bytes
}

// useOf measures after a wait for the folds, trims and vacuums that are due.
func useOf(t *testing.T, conn *pgx.Conn) (u use) {
	t.Helper()
	require.Eventually(t, func() bool {
		err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM log), (SELECT count(*) FROM fact), (SELECT count(*) FROM history),
			(SELECT sum(n_dead_tup) FROM pg_stat_user_tables), (SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables)`).
			Scan(&u.log, &u.facts, &u.ended, &u.dead, &u.size)
		return err == nil && u.log == 0 && u.ended <= 1000 && u.dead < 7000 // the thresholds of autovacuum
	}, 3*time.Minute, 200*time.Millisecond, "%+v", &u)
	files, _ := os.ReadDir("/proc/self/fd") // none on other systems
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // memory that finalizers freed
	runtime.ReadMemStats(&m)
	u.heap, u.goroutines, u.files = int64(m.HeapAlloc), runtime.NumGoroutine(), len(files)
	return u
}

// A million tasks leave nothing in a coordinator, and nothing that grows in its database: row 60 of the catalogue of
// faults. The test is not parallel, so that it measures itself.
func TestFault60TasksOfARealmLeaveNothingBehind(t *testing.T) {
	const bound = 128 << 20 // bytes of the log before it is folded and vacuumed, however many tasks there were
	url := pgserver.New(t, pgserver.Settings{"autovacuum_naptime": "'1s'"}).Database(t)
	cfg := memberConfig(t, url)
	cfg.RetainBytes = 128 << 10
	m := startMember(t, cfg)
	m.waitReady("ok\n")
	conn, err := pgx.Connect(t.Context(), url+"&search_path=leasehold_default")
	require.NoError(t, err)
	defer conn.Close(context.Background())
	through(t, m.at.Gate, 2000) // caches, slices and pages find their size
	start := useOf(t, conn)
	through(t, m.at.Gate, *leakTasks)
	end := useOf(t, conn)
	t.Logf("%d tasks: from %+v to %+v", *leakTasks, start, end)
	require.LessOrEqual(t, end.goroutines, start.goroutines+2, "that serve a call now and then")
	require.LessOrEqual(t, end.files, start.files+2, "connections to the database that are in use now and then")
	require.Less(t, end.heap-start.heap, int64(1<<20+2**leakTasks))
	require.LessOrEqual(t, end.facts, start.facts, "the log is folded, and the facts of ended tasks are removed")
	require.Less(t, end.size, int64(bound))
}

// through has a session create tasks, and a worker do them.
func through(t *testing.T, gate string, tasks int) {
	t.Helper()
	const slots = 16
	dial := func(ctx context.Context, mode string) (space.Repository, error) { // the sessions live with their connections
		c, err := remote.Dial(ctx, remote.Config{Address: gate, Mode: mode, Session: remote.SessionID(mode), Log: discard})
		if err != nil {
			return nil, err
		}
		return space.Over(c), nil
	}
	repo, err := dial(t.Context(), "client")
	require.NoError(t, err)
	var working sync.WaitGroup // one for each task
	h := handlerFunc(func(ctx context.Context, job worker.Job) error {
		defer working.Done()
		return job.Resolve(ctx, "", "result")
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		connect := func(ctx context.Context) (space.Repository, error) { return dial(ctx, "worker") }
		ended <- worker.Run(ctx, connect, worker.Config{Handlers: map[string]worker.Handler{"act": h}, Slots: slots, Heartbeat: time.Second, Drain: time.Minute, Grace: time.Second, Log: discard})
	}()
	var creating sync.WaitGroup
	for i := range slots {
		creating.Go(func() {
			for n := range tasks / slots {
				working.Add(1)
				x := models.Task{Action: "act", Subject: fmt.Sprint(i, "-", n, strings.Repeat("x", 50)), Timeout: 60}
				if _, err := (task.Client{Repo: repo}).Create(t.Context(), x, 0); err != nil {
					t.Error(err)
					working.Done()
				}
			}
		})
	}
	creating.Wait()
	working.Wait()
	stop()
	require.NoError(t, <-ended)
	require.NoError(t, repo.Close(t.Context()))
}
