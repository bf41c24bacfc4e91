// Package coordinator hosts the tuple spaces: it registers the procedures of the
// protocols at an engine, creates the spaces, has origins visited, and records the
// outcomes of visits.
//
// It knows neither managers nor workers: they open sessions and communicate only through
// the spaces. Timers, holds and leases run in the engine. The catalog is always written
// before the hold of a result ends, so that a crash in between only repeats the write.
package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"leasehold/coordinator/actions"
	"leasehold/coordinator/alert"
	"leasehold/coordinator/attention"
	"leasehold/coordinator/history"
	"leasehold/coordinator/visits"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/protocol/batch"
	"leasehold/shared/protocol/hold"
	"leasehold/shared/protocol/idempotency"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/space/trace"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// Config is the configuration of a coordinator.
type Config struct {
	Journal journal.Journal
	Catalog catalog.Catalog
	Work    work.Policy
	Visit   visit.Policy
	// Visits decides when origins are visited; it must be of the same database as
	// Catalog (coordinator/database).
	Visits *visits.Store
	// History keeps the counts of tasks, of the same database; nil: they are not kept.
	History *history.Store
	Alerts  []alert.Channel // that report dead letters to administrators
	// AttentionAlerts report attention items to administrators, and not again one that comes back within AlertQuiet.
	AttentionAlerts []alert.Channel
	AlertQuiet      time.Duration
	// Attention has what the items of attention are computed from, beside what the coordinator adds.
	Attention attention.Config
	Trace     func(trace.Event)   // nil: none
	Log       *slog.Logger        // nil: slog.Default
	Memory    *memory.Budget      // nil: no limit
	MaxTTL    time.Duration       // of sessions that are restored from the journal; 0: no limit
	Grace     time.Duration       // after a restart, in which clients without a TTL may come back
	Retain    space.HistoryLimits // of the ended tasks that are kept; zero: a day, a million tasks, 128 MiB
	// Decorate, if not nil, wraps the connection of each session in this process: tests make
	// it refuse calls.
	Decorate func(space.Conn) space.Conn
}

// Coordinator is one set of spaces. Its methods may be called concurrently.
type Coordinator struct {
	Config
	engine    *engine.Engine
	attention *attention.Watcher
	lost      chan lostSession
	durations durations
	tracker   *actions.Tracker
}

// defaultRetain are the limits of the ended tasks that are kept.
var defaultRetain = space.HistoryLimits{Age: 24 * time.Hour, Number: 1_000_000, Bytes: 128 << 20}

// New fills in the defaults of c, loads the journal and returns a coordinator; Run starts it. A policy of visits
// or limits of work that are not valid are fault.ErrInvalid. The sessions that are lost go to logLost, which
// writes them to the log outside the engine's lock.
func New(ctx context.Context, c Config) (*Coordinator, error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if err := c.Work.Check(); err != nil {
		return nil, err
	}
	if c.Retain == (space.HistoryLimits{}) {
		c.Retain = defaultRetain
	}
	c.Work.Task.Alerts = alert.Names(c.Alerts)
	lost := make(chan lostSession, maxLost)
	d, tracker := newDurations(), actions.NewTracker()
	c.Attention.Log = c.Log
	watcher := attention.New(c.Attention)
	e, err := engine.Open(ctx, engine.Config{
		Journal: c.Journal, Measures: d.measures(), Procedures: Procedures(c), Readers: task.Readers(), Takes: task.Takes(), QueryOnly: space.QueryOnly(Definitions()), PutChecks: space.PutChecks(Definitions()), Reserving: space.Reserving(Definitions()), ShareBy: space.ShareBy(Definitions()), Trace: c.Trace, Noted: tracker.Note, Settings: traced(c), SessionLost: func(id string, p space.Process) {
			tracker.SessionLost()
			noteLost(lost, lostSession{id, p.Host, watcher.NoteLost(id, p)})
		}, Log: c.Log, Memory: c.Memory, MaxTTL: c.MaxTTL, Grace: c.Grace,
	})
	if err != nil {
		return nil, err
	}
	return &Coordinator{Config: c, engine: e, attention: watcher, lost: lost, durations: d, tracker: tracker}, nil
}

// traced returns the settings on which a model of a protocol depends, as the trace has them. Times are in nanoseconds.
func traced(c Config) tuple.Tuple {
	return tuple.New("max-attempts", c.Work.Task.MaxAttempts, "lease-ttl", int64(c.Work.LeaseTTL), "queue-ttl", int64(c.Work.QueueTTL))
}

// Procedures returns those of all protocols, which a coordinator registers. Transactions of users may not change the spaces of the
// protocols.
func Procedures(c Config) space.Procedures {
	var own []string                            // spaces of the protocols, whose tuples only they put and take
	closed := map[string]bool{task.Space: true} // spaces from which only the protocols take: a task is claimed
	for _, d := range Definitions() {
		own = append(own, d.Name)
		closed[d.Name] = closed[d.Name] || d.QueryOnly
	}
	return space.Join(status.GuardedProcedures(task.Holds), lease.Procedures(), c.Work.Task.Procedures(), c.Work.Procedures(), c.Visit.Procedures(),
		c.Work.Task.AdminProcedures(), browse.Procedures(), interop.Procedures(closed), hold.Procedures(closed), batch.Procedures(), schedule.Procedures(), idempotency.Procedures(),
		transaction.Procedures(own...))
}

// Definitions returns the spaces of all protocols, which a coordinator creates and needs. They
// are created at each start, because a new protocol may need more.
func Definitions() []space.Definition {
	var all []space.Definition
	for _, spaces := range [][]space.Definition{visit.Spaces(), task.Spaces(), lease.Spaces(), status.Spaces(), batch.Spaces(), schedule.Spaces(), idempotency.Spaces(), hold.Spaces()} {
		all = append(all, spaces...)
	}
	return all
}

// Run hosts the spaces until ctx ends, and then returns nil. It waits for all goroutines that it
// starts. Run calls ready, if not nil, once the spaces exist and contain again the visits that
// were in flight when the last coordinator ended. If the engine or another part fails, all parts
// end and their errors are returned. The engine ends last, because the others use it.
func (c *Coordinator) Run(ctx context.Context, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The engine runs until its users have ended.
	engineCtx, stopEngine := context.WithCancel(context.WithoutCancel(ctx))
	defer stopEngine()
	var engineErr error
	var running sync.WaitGroup
	running.Go(func() {
		engineErr = c.engine.Run(engineCtx)
		cancel()
	})
	running.Go(func() { c.logLost(engineCtx) })
	err := c.runParts(ctx, ready)
	stopEngine()
	running.Wait()
	return errors.Join(err, engineErr)
}

// runParts creates the spaces of the protocols, puts the visits that were in flight into their space again, and
// calls ready. Then it runs the schedule of visits, the sweep, the alerts and the schedules of tasks until ctx
// ends, when it returns nil. If the schedule of visits fails, it stops and returns the error. Calls that the
// spaces refuse for now are repeated, except those of task schedules, which are tried each second anyway.
func (c *Coordinator) runParts(ctx context.Context, ready func()) (err error) {
	own, err := c.Connect(ctx, "coordinator", 0)
	if err != nil {
		return err
	}
	repo := space.Retrying(own, &retry.Loop{Message: "coordinator: the spaces refuse calls for now; repeating them", Log: c.Log})
	for _, d := range Definitions() {
		if err := repo.Create(ctx, d.Name, d.Options); err != nil {
			return err
		}
	}
	schedule := newScheduler(c, c.Visits, repo)
	if err := schedule.start(ctx); err != nil {
		return unlessEnded(ctx, err)
	}
	status.Tell(c.Log, slog.LevelInfo, "", "coordinator started; the logs of the processes have the earlier lines")
	if ready != nil {
		ready()
	}
	var sweeping sync.WaitGroup
	defer sweeping.Wait()
	sweepCtx, stopSweep := context.WithCancel(ctx)
	defer stopSweep()
	sweeping.Go(func() { c.sweepTasks(sweepCtx, repo) })
	sweeping.Go(func() { c.runAlerts(sweepCtx, repo) })
	sweeping.Go(func() { alert.RunAttention(sweepCtx, c.attention, c.AttentionAlerts, c.AlertQuiet, c.Log) })
	figures := actions.NewSource(space.Once(repo), c.tracker)
	sweeping.Go(func() {
		c.attention.Run(sweepCtx, attention.State{Repo: space.Once(repo), Engine: c.engine, Actions: figures})
	})
	if c.History != nil {
		sweeping.Go(func() {
			history.Run(sweepCtx, history.Config{Store: c.History, Tracker: c.tracker, Waiting: history.WaitingOf(figures), Spaces: history.SpacesOf(space.Once(repo)), Now: time.Now, Log: c.Log})
		})
	}
	sweeping.Go(func() { c.runSchedules(sweepCtx, space.Once(repo)) })
	return unlessEnded(ctx, schedule.run(ctx))
}

// unlessEnded returns nil if ctx has ended, because then all errors follow from that, and else err.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Connect opens a session of a mode, with a new id each time, and decorates its connection. The
// session is lost after ttl without a heartbeat; 0 means never. The error is the engine's:
// fault.ErrOverloaded, or fault.ErrClosed once it has stopped.
func (c *Coordinator) Connect(ctx context.Context, mode string, ttl time.Duration) (space.Repository, error) {
	conn, err := c.engine.Connect(ctx, SessionID(mode), ttl)
	if err != nil {
		return nil, err
	}
	if c.Decorate != nil {
		conn = c.Decorate(conn)
	}
	return space.Over(conn), nil
}

// Watcher returns what shows what needs attention. Reports come while Run runs.
func (c *Coordinator) Watcher() *attention.Watcher { return c.attention }

// Engine returns the engine at which gates open sessions.
func (c *Coordinator) Engine() *engine.Engine { return c.engine }

// Tracker counts the events of the coordinator's tasks since New.
func (c *Coordinator) Tracker() *actions.Tracker { return c.tracker }

// SessionID returns a new id for a session of a mode: <mode>-<8 hex>.
func SessionID(mode string) string { return fmt.Sprintf("%s-%08x", mode, rand.Uint32()) }

// Idle reports whether no work is left: no visit due or in flight, no task, hold, result or lease, and nothing to
// select in the catalog. Dead letters and origins that are not due do not count. Visits are checked before tasks,
// and these before leases, in the order in which work goes on.
func (c *Coordinator) Idle(ctx context.Context, repo space.Repository) (bool, error) {
	if due, err := c.Visits.Due(ctx, time.Now()); err != nil || due {
		return false, err
	}
	infos, err := repo.List(ctx)
	if err != nil {
		return false, err
	}
	for _, i := range infos {
		switch i.Name {
		case visit.Space, task.Space, task.Result:
			if i.Visible+i.Held > 0 {
				return false, nil
			}
		}
	}
	if leases, err := repo.Space(lease.Space).Count(ctx, lease.Any()); err != nil || leases > 0 {
		return false, err
	}
	_, _, err = c.Catalog.Select(ctx, nil, catalog.Limits{Clips: 1})
	if errors.Is(err, fault.ErrNotFound) {
		return true, nil
	}
	return false, err
}
