package node

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"leasehold/coordinator"
	"leasehold/coordinator/attention"
	"leasehold/shared/config"
	"leasehold/shared/process/datadir"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/process/tracing"
	"leasehold/shared/protocol/task"
	"leasehold/shared/protocol/visit"
	"leasehold/shared/protocol/work"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/memory"
	"leasehold/shared/space/trace"
)

const (
	// visitTimeout is how long a manager may take for one visit.
	visitTimeout = 30 * time.Minute
	// ingestTimeout is how long a manager may hold a result.
	ingestTimeout = time.Minute
)

// RunCoordinator hosts the spaces, the catalog, the API and the dashboard until ctx ends. It calls listening with
// the addresses of its ports when all are open. It returns nil when ctx ends.
func RunCoordinator(ctx context.Context, cfg config.Config, log *slog.Logger, listening func(datadir.Addresses)) (err error) {
	if cfg.Journal == config.JournalPostgres {
		return runMember(ctx, cfg, log, listening)
	}
	d, err := OpenDataDir(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return serveData(ctx, d, listening)
}

// serveData hosts what d has open until ctx ends, and calls listening as RunCoordinator does.
func serveData(ctx context.Context, d *DataDir, listening func(datadir.Addresses)) (err error) {
	a, err := d.openAuth(ctx)
	if err != nil {
		return err
	}
	l, err := listen(d, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	listening(l.addresses())
	return host(ctx, d, func(h *hosted) (main supervisor.Task, helpers []supervisor.Task) {
		return func(ctx context.Context) error { return l.serve(ctx, h) }, nil
	})
}

// hosted is a coordinator on a data folder.
type hosted struct {
	*DataDir
	*coordinator.Coordinator
	spaces journal.Journal
	memory *memory.Budget
	spans  *tracing.Spans
}

// host runs a coordinator on a data folder and, once it is ready, the main task and the helpers that build
// returns. It ends when main does, a task fails or ctx ends, as supervisor.Host does, and returns when all have
// ended. build is called before anything runs.
func host(ctx context.Context, d *DataDir, build func(*hosted) (main supervisor.Task, helpers []supervisor.Task)) (err error) {
	check := d.newCheck()
	traced, closeTrace, err := openTrace(d.cfg, d.log, check)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTrace()) }()
	spans, err := tracing.Start(ctx, config.Coordinator, d.log)
	if err != nil {
		return err
	}
	defer spans.Close()
	spaces, err := d.openJournal()
	if err != nil {
		return err
	}
	defer func() {
		isClean := err == nil
		err = errors.Join(err, d.endPair(ctx, isClean), spaces.Close())
	}()
	if err := d.beginPair(ctx, spaces); err != nil {
		return err
	}
	if err := d.hostIndex(ctx); err != nil {
		return err
	}
	if d.cfg.Search == "" && d.depot == nil { // else once the search server answers, or the index was fetched
		if err := d.visitLacking(ctx); err != nil {
			return err
		}
	}
	memory.LimitHeap(d.cfg.Memory)
	budget := memory.New(d.cfg.Memory)
	settings := d.coordinatorConfig(spaces, traced, budget)
	if settings.Alerts, err = newAlerts(d.cfg); err != nil {
		return err
	}
	if settings.AttentionAlerts, err = newAttentionAlerts(d.cfg); err != nil {
		return err
	}
	settings.Attention = attention.Config{Health: d.database.Health, Catalog: d.Catalog, Visits: d.Visits, Open: openAddresses(d.cfg)}
	if d.index != nil {
		settings.Attention.Index = d.index
	}
	if d.auth != nil {
		settings.Attention.Invites = d.auth
	}
	if check != nil {
		settings.Attention.Check = check
	}
	c, err := coordinator.New(ctx, settings)
	if err != nil {
		return err
	}
	main, helpers := build(&hosted{d, c, spaces, budget, spans})
	if check != nil {
		check.TraceState = c.Engine().TraceState
		helpers = append(helpers, check.Run)
	}
	if d.pair != nil {
		helpers = append(helpers, func(ctx context.Context) error { d.pair.Run(ctx, d.log); return nil })
	}
	if d.watchOwner != nil {
		helpers = append(helpers, d.watchOwner)
	}
	helpers = append(helpers, func(ctx context.Context) error { d.database.RunExaminations(ctx, d.log); return nil })
	forwardLog := func(ctx context.Context) error { return d.forwardLog(ctx, c) }
	return supervisor.Host(ctx, c.Run, main, append(helpers, d.maintainIndex, forwardLog)...)
}

// forwardLog puts warnings of this process into the space "log" of its own coordinator until ctx ends, over a
// session that it opens for that; the forwarder keeps it. It returns nil if ctx ends before the session is open.
func (d *DataDir) forwardLog(ctx context.Context, c *coordinator.Coordinator) error {
	open := d.forwarder.Over(func(ctx context.Context) (space.Repository, error) { return c.Connect(ctx, config.Coordinator, 0) })
	if _, err := open(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // the process was asked to end right after its start
		}
		return err
	}
	d.forwarder.Run(ctx)
	return nil
}

// coordinatorConfig returns the configuration of a coordinator on this folder.
func (d *DataDir) coordinatorConfig(spaces journal.Journal, traced func(trace.Event), budget *memory.Budget) coordinator.Config {
	return coordinator.Config{
		Journal: spaces, Catalog: d.Catalog, Visits: d.Visits, History: d.database.History, Trace: traced, Log: d.log,
		Memory: budget, AlertQuiet: d.cfg.AlertQuiet, MaxTTL: d.cfg.SessionMaxTTL, Grace: d.cfg.SessionLost, Retain: retain(d.cfg), Decorate: d.decorate,
		Visit: visit.Policy{Timeout: visitTimeout},
		Work: work.Policy{
			Task:     task.Policy{MaxAttempts: int64(d.cfg.MaxAttempts), Backoff: d.cfg.ReleaseBackoff},
			LeaseTTL: d.cfg.LeaseTTL, QueueTTL: d.cfg.QueueTTL, Ingest: ingestTimeout,
		},
	}
}

// Bounds of the ended tasks that are kept, beside the settings.
const (
	maxRetained       = 1_000_000
	maxRetainedInHeap = 16 << 20 // bytes, if the journal is in memory
)

// retain returns the limits of the ended tasks that are kept.
func retain(c config.Config) space.HistoryLimits {
	l := space.HistoryLimits{Age: c.Retain, Number: maxRetained, Bytes: c.RetainBytes}
	if c.Journal == config.JournalMemory {
		l.Bytes = min(l.Bytes, maxRetainedInHeap)
	}
	return l
}
