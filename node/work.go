package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"leasehold/manager"
	managerclips "leasehold/manager/clips"
	managercode "leasehold/manager/code"
	"leasehold/manager/lister"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/clips/match"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/process/platform"
	"leasehold/shared/process/tracing"
	"leasehold/shared/protocol/status"
	"leasehold/worker"
	workerclips "leasehold/worker/clips"
	workercode "leasehold/worker/code"
	"leasehold/worker/exec"
)

// grace is how long a handler or a session may take to end after its context has ended.
const grace = 10 * time.Second

// RunManager runs a manager until ctx ends. Its coordinator is the one at cfg.Host or, without a host, the one
// that runs with the same data folder. It calls connected with the id of its first session and the address of the
// gate.
func RunManager(ctx context.Context, cfg config.Config, log *slog.Logger, connected func(session, gate string)) (err error) {
	f := status.NewForwarder()
	log = f.Logger(log)
	r, err := openRemote(ctx, cfg, config.Manager, log)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer func() { err = errors.Join(err, r.close()) }()
	connected(r.session(), r.gates.First())
	x, err := openIndexer(cfg, r.dir, r.fetcher, r.contentServer(), log)
	if err != nil {
		return err
	}
	return runForwarding(ctx, f, log, func() error {
		return x.runBeside(ctx, func(ctx context.Context) error {
			c := managerConfig(cfg, r.fetcher, r.figures.measureVisits(newFlows(cfg, r.catalog, r.fetcher, x, r.index, log)), log)
			c.Beat = r.figures.beats
			return manager.Run(ctx, f.Over(r.figures.counting(r.connect)), c)
		})
	})
}

// RunWorker runs a worker until ctx ends, of the same coordinator as RunManager, and calls connected in the same
// way. If a handler does not end with its context, the process executes itself again, because nothing else frees
// its slot.
func RunWorker(ctx context.Context, cfg config.Config, log *slog.Logger, connected func(session, gate string)) (err error) {
	tuneGC()
	f := status.NewForwarder()
	log = f.Logger(log)
	r, err := openRemote(ctx, cfg, config.Worker, log)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	defer func() { err = errors.Join(err, r.close()) }()
	log = log.With("worker", r.workerName())
	connected(r.session(), r.gates.First())
	own, closeIndex, err := workerIndex(cfg, r.index, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeIndex()) }()
	files, closeFiles := newIndexing(ctx, own, r.contentClient(), log)
	defer func() { err = errors.Join(err, closeFiles()) }()
	handlers, err := newHandlers(cfg, r.cache, media{r, r.catalog, log}, files, log)
	if err != nil {
		return err
	}
	spans, err := tracing.Start(ctx, config.Worker, log)
	if err != nil {
		return err
	}
	defer spans.Close()
	err = runForwarding(ctx, f, log, func() error {
		c := workerConfig(cfg, handlers, cfg.Slots, spans, log)
		c.Wrap, c.Beat = []worker.Middleware{r.figures.measureTasks}, r.figures.beats
		return worker.Run(ctx, f.Over(r.figures.counting(r.connect)), c)
	})
	if errors.Is(err, worker.ErrStuck) {
		spans.Close() // the new program runs no deferred calls of this one
		return errors.Join(err, platform.Restart())
	}
	return err
}

// unlessEnded returns nil if ctx has ended, because err is then its consequence.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// tuneGC lets the heap grow by a quarter between collections, unless the environment sets
// GOGC. A worker allocates few and large objects, so this costs nearly no time, and many
// workers share a machine (docs/benchmarks.md).
func tuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(25)
	}
}

func managerConfig(cfg config.Config, f *fetch.Fetcher, flows map[models.FlowName]manager.Flow, log *slog.Logger) manager.Config {
	return manager.Config{
		Flows: flows, Robots: f, SetPace: f.SetPace, Slots: cfg.VisitSlots, Heartbeat: cfg.Heartbeat, Grace: grace, Log: log,
	}
}

// runWorker runs one worker until ctx ends. If a handler is stuck, it runs another worker in its
// place: the stuck handler cannot be ended, but its task goes to another worker and, after the maximum number of
// attempts, to the dead letters.
func runWorker(ctx context.Context, connect status.Connect, c worker.Config) error {
	for {
		err := worker.Run(ctx, connect, c)
		if ctx.Err() != nil || !errors.Is(err, worker.ErrStuck) {
			return err
		}
		c.Log.Error("replacing a worker whose handler is stuck", "error", err)
	}
}

// newFlows returns the flows of a manager by their names in the tables of package models.
// An indexer without a port visits repositories by their refs only; own may then be nil.
func newFlows(cfg config.Config, c catalog.Catalog, f *fetch.Fetcher, x *indexer, own codeIndex, log *slog.Logger) map[models.FlowName]manager.Flow {
	return map[models.FlowName]manager.Flow{
		models.ArchiveFlow: managerclips.NewFlow(managerclips.Flow{
			Catalog: c, Lister: &managerclips.Lister{Fetch: f}, ClipLimit: cfg.ClipLimit,
			Timeout: cfg.ResearchTimeout, Look: cfg.CapacityLook, Log: log,
		}),
		models.IndexFlow:  x.flow(cfg, managercode.Config{Catalog: c, Fetch: f, Log: log}, own),
		models.ListerFlow: &lister.Flow{Catalog: c, Fetch: f, Tokens: cfg.ForgeTokens, Log: log},
	}
}

// indexTimeout is how long a worker may take for a batch of files.
const indexTimeout = 10 * time.Minute

// newHandlers returns the handlers of the configured actions. They keep the fingerprints of episodes in a folder
// below cache.
func newHandlers(cfg config.Config, cache string, media workerclips.Media, files *workercode.Handler, log *slog.Logger) (map[string]worker.Handler, error) {
	episodes, err := fingerprint.Open(filepath.Join(cache, "episodes"), cfg.EpisodeBytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", fault.ErrFolder, err)
	}
	all := map[string]worker.Handler{
		models.ActionIndex:    files,
		models.ActionResearch: workerclips.New(media, episodes, workerclips.Options{Match: match.Options{Threshold: cfg.MatchThreshold, MinCoverage: cfg.MinCoverage}, Log: log}),
	}
	handlers := map[string]worker.Handler{}
	for _, action := range cfg.Actions {
		handlers[action] = all[action]
	}
	for _, c := range cfg.Commands {
		if handlers[c.Action], err = exec.New(c.Words, cfg.CommandDir, cfg.CommandOutput); err != nil {
			return nil, fmt.Errorf("exec %s: %w", c.Action, err)
		}
	}
	return handlers, nil
}

func workerConfig(cfg config.Config, handlers map[string]worker.Handler, slots int, spans *tracing.Spans, log *slog.Logger) worker.Config {
	return worker.Config{
		Handlers: handlers, Slots: slots, Heartbeat: cfg.Heartbeat, Drain: cfg.Drain, Grace: grace, Spans: spans, Log: log,
	}
}
