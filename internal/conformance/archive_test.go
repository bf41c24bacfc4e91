package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"encoding/json"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator"
	"leasehold/coordinator/database"
	"leasehold/manager"
	managerclips "leasehold/manager/clips"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	visits "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/trace"
	"leasehold/worker"
)

const (
	heartbeat = 2 * time.Second
	lost      = 6 * time.Second
	timeout   = 10 * time.Minute
)

var muted = slog.New(slog.NewTextHandler(io.Discard, nil))

// archiveRun runs the archive flow over one catalog, in fake time. All random choices
// come from its seed.
type archiveRun struct {
	*testing.T
	journal journal.Memory
	db      *database.Database
	store   catalog.Catalog // of db
	running sync.WaitGroup
	users   userTasks
	max     int64 // max-attempts of the coordinator

	mu     sync.Mutex // guards the fields below
	random *rand.Rand
	coord  *coordinator.Coordinator
	halt   func() // ends coord
	log    bytes.Buffer
	seq    uint64
}

// recorded runs the archive for a duration and returns its log. Its managers and workers
// are killed or closed at random, and so is the coordinator if restarts is set.
func recorded(t *testing.T, seed uint64, long time.Duration, restarts bool) (log []byte) {
	return recordedWith(t, seed, long, restarts, func(*archiveRun, context.Context) {})
}

// recordedWith is recorded with further processes beside those of the archive, which begin adds.
func recordedWith(t *testing.T, seed uint64, long time.Duration, restarts bool, begin func(*archiveRun, context.Context)) (log []byte) {
	return logOf(t, seed, func(r *archiveRun, ctx context.Context) {
		for range 2 {
			r.running.Go(func() { r.member(ctx, "manager", r.runManager) })
		}
		for range 3 {
			r.running.Go(func() { r.member(ctx, "worker", r.runWorker) })
		}
		begin(r, ctx)
		for end := time.Now().Add(long); time.Now().Before(end); {
			<-time.After(r.upTo(30 * time.Minute))
			if restarts {
				r.halt()
				r.open()
			}
		}
	})
}

// logOf runs a coordinator in fake time, and beside it what run does, and returns the log.
func logOf(t *testing.T, seed uint64, run func(*archiveRun, context.Context)) (log []byte) {
	synctest.Test(t, func(t *testing.T) {
		r := &archiveRun{T: t, random: rand.New(rand.NewPCG(seed, 7))}
		db, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"), "value", visits.DefaultRules())
		require.NoError(t, err)
		r.db, r.store, r.max = db, db.Catalog, int64(1+seed%3)
		r.curate(int(10+seed%5), 6)
		r.open()
		ctx, stop := context.WithCancel(context.Background())
		run(r, ctx)
		stop()
		r.running.Wait()
		r.halt()
		require.NoError(t, db.Close())
		log = r.log.Bytes()
	})
	return log
}

func (r *archiveRun) curate(episodes, clips int) {
	_, err := r.store.AddOrigin(r.Context(), models.Origin{ID: "o", Kind: models.API, URI: "api:o", AddedAt: time.Now()})
	require.NoError(r, err)
	var l catalog.Listing
	for i := range episodes {
		l.Episodes = append(l.Episodes, models.Episode{Recording: models.Recording{Name: fmt.Sprint("e", i), Media: models.MediaRef{URI: fmt.Sprint("file:///e", i)}}})
	}
	for i := range clips {
		l.Clips = append(l.Clips, models.Clip{Recording: models.Recording{Name: fmt.Sprint("c", i), Media: models.MediaRef{URI: fmt.Sprint("file:///c", i)}}})
	}
	_, err = r.store.Curate(r.Context(), "o", time.Now(), l)
	require.NoError(r, err)
}

// open starts a coordinator on the journal.
func (r *archiveRun) open() {
	policy := work.Policy{
		Task:     task.Policy{MaxAttempts: r.max, Backoff: 30 * time.Second},
		LeaseTTL: time.Hour, QueueTTL: 30 * time.Minute, Ingest: time.Minute,
	}
	coord, err := coordinator.New(r.Context(), coordinator.Config{
		Journal: &r.journal, Catalog: r.store, Visits: r.db.Visits, Work: policy, Visit: visit.Policy{Timeout: time.Hour}, Trace: r.write, Log: muted,
	})
	require.NoError(r, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	ready := make(chan struct{})
	go func() { done <- coord.Run(ctx, func() { close(ready) }) }()
	<-ready
	r.mu.Lock()
	defer r.mu.Unlock()
	r.coord, r.halt = coord, func() { cancel(); require.NoError(r, <-done) }
}

// write appends an event to the log of all coordinators, with consecutive sequence
// numbers.
func (r *archiveRun) write(e trace.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	e.Seq = r.seq
	trace.NewWriter(&r.log).Write(e)
}

func (r *archiveRun) chance(percent int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.random.IntN(100) < percent
}

func (r *archiveRun) upTo(most time.Duration) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Duration(1 + r.random.Int64N(int64(most)))
}

// mortal is a connection of a process that may be killed.
type mortal struct {
	space.Conn
	run  *archiveRun
	dead *atomic.Bool
}

func (m mortal) Do(ctx context.Context, req space.Request) (space.Reply, error) {
	if m.dead.Load() {
		return space.Reply{}, fault.ErrClosed
	}
	<-time.After(m.run.upTo(50 * time.Millisecond))
	return m.Conn.Do(ctx, req)
}

// member runs one process after the other. Each runs for a random time and is then killed
// or closed.
func (r *archiveRun) member(ctx context.Context, mode string, run func(context.Context, status.Connect)) {
	for ctx.Err() == nil {
		var dead atomic.Bool
		member, cancel := context.WithTimeout(ctx, r.upTo(40*time.Minute))
		killed := r.chance(60)
		stop := context.AfterFunc(member, func() { dead.Store(killed) })
		run(member, r.connect(mode, &dead))
		cancel()
		stop()
		select {
		case <-ctx.Done():
		case <-time.After(r.upTo(10 * time.Minute)):
		}
	}
}

// connect opens sessions at the current coordinator.
func (r *archiveRun) connect(mode string, dead *atomic.Bool) status.Connect {
	return func(ctx context.Context) (space.Repository, error) {
		for {
			r.mu.Lock()
			coord := r.coord
			id := fmt.Sprintf("%s-%08x", mode, r.random.Uint32())
			r.mu.Unlock()
			c, err := coord.Engine().Connect(ctx, id, lost)
			if err == nil {
				return space.Over(mortal{c, r, dead}), nil
			}
			select {
			case <-ctx.Done():
				return nil, err
			case <-time.After(time.Second):
			}
		}
	}
}

// flow is the archive's flow, except that a visit finds nothing new, because everything
// is already curated.
type flow struct{ *managerclips.Flow }

func (flow) Visit(context.Context, models.Visit) (models.Outcome, error) {
	return models.Outcome{Status: models.Uneventful}, nil
}

func (r *archiveRun) runManager(ctx context.Context, connect status.Connect) {
	f := managerclips.NewFlow(managerclips.Flow{Catalog: r.store, ClipLimit: 4, Timeout: timeout, Look: 5 * time.Second, Log: muted})
	_ = manager.Run(ctx, connect, manager.Config{Flows: map[models.FlowName]manager.Flow{models.ArchiveFlow: flow{f}}, Heartbeat: heartbeat, Grace: time.Second, Log: muted})
}

func (r *archiveRun) runWorker(ctx context.Context, connect status.Connect) {
	_ = worker.Run(ctx, connect, worker.Config{
		Handlers: map[string]worker.Handler{models.ActionResearch: r}, Slots: 2, Heartbeat: heartbeat,
		Drain: 30 * time.Second, Grace: 10 * time.Second, Log: muted,
	})
}

// Handle plays a worker: it completes most tasks, but it may fail, take too long, or
// report late.
func (r *archiveRun) Handle(ctx context.Context, job worker.Job) error {
	var research models.Research
	if err := json.Unmarshal(job.Task().Data, &research); err != nil {
		return err
	}
	for n, clip := range research.Clips {
		if r.chance(6) {
			return errors.New("not on this machine")
		}
		long := r.upTo(2 * time.Minute)
		if r.chance(4) {
			long += timeout
		}
		select {
		case <-ctx.Done():
			if r.chance(50) {
				return context.Cause(ctx)
			}
			ctx = context.WithoutCancel(ctx) // it ignores the end of its session and reports late
		case <-time.After(long):
		}
		found := models.Researched{
			Episode: research.Episode.ID, Clips: []string{clip.ID}, EpisodeMedia: research.Episode.Media,
			ClipMedia: map[string]models.MediaRef{clip.ID: clip.Media},
		}
		report := job.Report
		if n == len(research.Clips)-1 {
			report = job.Resolve
		}
		if err := report(ctx, clip.ID, found); err != nil {
			return err
		}
	}
	return nil
}
