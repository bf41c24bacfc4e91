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

	"leasehold/coordinator/visit/store"
	"leasehold/shared/browse"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/memory"
	"leasehold/shared/retry"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/trace"
	"leasehold/shared/visit"
	"leasehold/shared/work"
)

// Config is the configuration of a coordinator.
type Config struct {
	Journal journal.Journal
	Catalog catalog.Catalog
	Work    work.Policy
	Visit   visit.Policy
	// Visits decides when origins are visited; it must be of the same database as
	// Catalog (coordinator/database).
	Visits *store.Store
	Trace  func(trace.Event) // nil: none
	Log    *slog.Logger      // nil: slog.Default
	Memory *memory.Budget    // nil: no limit
	MaxTTL time.Duration     // of sessions that are restored from the journal; 0: no limit
}

// Coordinator is one set of spaces. Its methods may be called concurrently.
type Coordinator struct {
	Config
	engine   *engine.Engine
	decorate func(space.Conn) space.Conn // wraps the coordinator's own session in tests; nil: none
}

// New loads the journal and returns a coordinator; Run starts it.
func New(ctx context.Context, c Config) (*Coordinator, error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if err := c.Work.Check(); err != nil {
		return nil, err
	}
	lost := func(id string) {
		status.Tell(c.Log, slog.LevelWarn, id, "session lost: no heartbeat came in time; what it held is offered again")
	}
	e, err := engine.Open(ctx, engine.Config{
		Journal: c.Journal, Procedures: procedures(c), Trace: c.Trace, SessionLost: lost, Log: c.Log, Memory: c.Memory, MaxTTL: c.MaxTTL,
	})
	if err != nil {
		return nil, err
	}
	return &Coordinator{Config: c, engine: e}, nil
}

func procedures(c Config) space.Procedures {
	return space.Join(status.Procedures(), lease.Procedures(), c.Work.Task.Procedures(), c.Work.Procedures(), c.Visit.Procedures(),
		task.AdminProcedures(), browse.Procedures())
}

// definitions returns the spaces of all protocols.
func definitions() []space.Definition {
	var all []space.Definition
	for _, spaces := range [][]space.Definition{visit.Spaces(), task.Spaces(), lease.Spaces(), status.Spaces()} {
		all = append(all, spaces...)
	}
	return all
}

// Run hosts the spaces until ctx ends, and then returns nil. It waits for all goroutines
// that it starts. Run calls ready, if not nil, once the spaces exist and contain again the
// visits that were in flight when the last coordinator ended.
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
	err := c.serve(ctx, ready)
	stopEngine()
	running.Wait()
	return errors.Join(err, engineErr)
}

func (c *Coordinator) serve(ctx context.Context, ready func()) (err error) {
	conn, err := c.engine.Connect(ctx, SessionID("coordinator"), 0)
	if err != nil {
		return err
	}
	if c.decorate != nil {
		conn = c.decorate(conn)
	}
	repo := space.Retrying(space.Over(conn), &retry.Loop{Message: "coordinator: the spaces refuse calls for now; repeating them", Log: c.Log})
	for _, d := range definitions() {
		if err := repo.Create(ctx, d.Name, d.Options); err != nil {
			return err
		}
	}
	visits := newVisits(c, c.Visits, repo)
	if err := visits.start(ctx); err != nil {
		return ended(ctx, err)
	}
	if ready != nil {
		ready()
	}
	return ended(ctx, visits.run(ctx))
}

// ended returns nil if ctx has ended, and else err.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// Connect opens a session of a mode, with a new id each time. The session is lost after
// ttl without a heartbeat; 0 means never.
func (c *Coordinator) Connect(ctx context.Context, mode string, ttl time.Duration) (space.Repository, error) {
	return c.engine.Session(ctx, SessionID(mode), ttl)
}

// Engine returns the engine at which gates open sessions.
func (c *Coordinator) Engine() *engine.Engine { return c.engine }

// SessionID returns a new id for a session of a mode: <mode>-<8 hex>.
func SessionID(mode string) string { return fmt.Sprintf("%s-%08x", mode, rand.Uint32()) }

// Idle reports whether no work is left: no visit that is due or in flight, no task, hold,
// result or lease, and nothing to select in the catalog. Dead letters and origins that
// are not due do not count.
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
	_, _, err = c.Catalog.Select(ctx, nil, 1)
	if errors.Is(err, fault.ErrNotFound) {
		return true, nil
	}
	return false, err
}
