package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"leasehold/coordinator"
	"leasehold/manager"
	"leasehold/models"
	"leasehold/shared/audio/match"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/task"
	"leasehold/shared/trace"
	"leasehold/shared/visit"
	"leasehold/shared/work"
	"leasehold/worker"
	"leasehold/worker/research"
)

const (
	// visitTimeout is how long a manager may take for one visit.
	visitTimeout = 30 * time.Minute
	// ingestTimeout is how long a manager may hold a result.
	ingestTimeout = time.Minute
	// grace is how long a handler or a session may take to end once it was told.
	grace = 10 * time.Second
)

// newRun is `leasehold run`.
func (a *app) newRun() *cobra.Command {
	var untilIdle bool
	var kind string
	c := &cobra.Command{
		Use:   "run [PATH…]",
		Short: "coordinator, manager and workers in one process, no network between them",
		Long: `Add the origins at each PATH (a feed, a folder of episodes, a folder of clips, or a
folder with a manifest origins.yaml), and work on all origins of the data folder.`,
		RunE: func(c *cobra.Command, args []string) (err error) {
			h, err := a.openHouse(c)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, h.close()) }()
			if _, err := h.add(c.Context(), args, kind); err != nil {
				return err
			}
			return a.runHouse(c.Context(), h, untilIdle)
		},
	}
	c.Flags().BoolVar(&untilIdle, "until-idle", false, "stop when nothing is left to do, and print the findings")
	c.Flags().StringVar(&kind, "kind", "", "what each PATH is, if it should not be detected: feed, media or clips")
	config.BindFlags(c.Flags())
	return c
}

// crew is everything that runs in one process.
type crew struct {
	*house
	coordinator *coordinator.Coordinator
	repo        space.Repository // of the command itself
	stop        context.CancelFunc

	running sync.WaitGroup
	mu      sync.Mutex // guards errs
	errs    []error
}

// runHouse works until idle, or until ctx ends.
func (a *app) runHouse(ctx context.Context, h *house, untilIdle bool) error {
	origins, err := h.catalog.Origins(ctx)
	if err != nil {
		return err
	}
	if len(origins) == 0 {
		return usagef("there is no origin in %s: name one, such as leasehold run examples/podcast, or leasehold origin add PATH", h.cfg.Data)
	}
	h.trust(origins)
	traced, closeTrace, err := openTrace(h.cfg.Trace)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	w := &crew{house: h, stop: stop}
	if err := w.start(running, traced); err != nil {
		stop()
		w.running.Wait()
		return errors.Join(err, closeTrace())
	}
	idle, watchErr := a.watch(running, w, untilIdle)
	totals, totalsErr := w.totals()
	stop()
	w.running.Wait()
	err = errors.Join(append(w.errs, watchErr, totalsErr, closeTrace())...)
	if err != nil {
		return err
	}
	if untilIdle && !idle {
		err = errors.New("interrupted before everything was done; run again to go on")
	}
	return errors.Join(err, a.summarize(totals))
}

// start starts the coordinator and, once it is ready, the others.
func (w *crew) start(ctx context.Context, traced func(trace.Event)) error {
	c, err := coordinator.New(ctx, coordinator.Config{
		Journal: &journal.Memory{}, Catalog: w.catalog, Work: w.policy(),
		Visit: visit.Policy{Timeout: visitTimeout}, Trace: traced, Log: w.log,
	})
	if err != nil {
		return err
	}
	w.coordinator = c
	ready := make(chan struct{})
	// The coordinator outlives those who use it: they still have to hand back.
	hosting, endHosting := context.WithCancel(context.WithoutCancel(ctx))
	var users sync.WaitGroup
	w.running.Go(func() { w.note(c.Run(hosting, func() { close(ready) })) })
	w.running.Go(func() {
		<-ctx.Done()
		users.Wait()
		endHosting()
	})
	select {
	case <-ready:
	case <-ctx.Done():
		return errors.Join(w.errs...)
	}
	if w.repo, err = c.Connect(ctx, "run", 0); err != nil {
		return err
	}
	users.Go(func() { w.note(w.manage(ctx)) })
	for range w.cfg.Workers {
		users.Go(func() { w.note(w.work(ctx)) })
	}
	return nil
}

func (w *crew) policy() work.Policy {
	return work.Policy{
		Task:     task.Policy{MaxAttempts: int64(w.cfg.MaxAttempts), Backoff: w.cfg.ReleaseBackoff},
		LeaseTTL: w.cfg.LeaseTTL, QueueTTL: w.cfg.QueueTTL, Ingest: ingestTimeout,
	}
}

func (w *crew) connect(mode string) func(context.Context) (space.Repository, error) {
	return func(ctx context.Context) (space.Repository, error) {
		return w.coordinator.Connect(ctx, mode, w.cfg.SessionLost)
	}
}

func (w *crew) manage(ctx context.Context) error {
	return manager.Run(ctx, w.connect(config.Manager), manager.Config{
		Flows: []manager.Flow{w.flow()}, Heartbeat: w.cfg.Heartbeat, Grace: grace, Log: w.log,
	})
}

// work runs one worker. One whose handler is stuck is replaced: what is stuck
// cannot be ended, but its task goes on to another worker, and in the end to the
// dead letters.
func (w *crew) work(ctx context.Context) error {
	handlers := map[string]worker.Handler{
		models.ActionResearch: research.New(w.fetch, research.Options{Match: match.Options{Threshold: w.cfg.MatchThreshold}, Log: w.log}),
	}
	for {
		err := worker.Run(ctx, w.connect(config.Worker), worker.Config{
			Handlers: handlers, Slots: 1, Heartbeat: w.cfg.Heartbeat, Drain: w.cfg.Drain, Grace: grace, Log: w.log,
		})
		if ctx.Err() != nil || !errors.Is(err, worker.ErrStuck) {
			return err
		}
		w.log.Error("a worker is replaced", "error", err)
	}
}

// note keeps the error of a part that has ended, and ends the others.
func (w *crew) note(err error) {
	if err == nil {
		return
	}
	w.mu.Lock()
	w.errs = append(w.errs, err)
	w.mu.Unlock()
	w.stop()
}

// openTrace opens the file that events are logged to.
func openTrace(path string) (write func(trace.Event), closeFile func() error, err error) {
	if path == "" {
		return nil, func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, nil, fmt.Errorf("trace: %w: %w", fault.ErrInvalid, err)
	}
	w := trace.NewWriter(f)
	return w.Write, func() error { return errors.Join(w.Err(), f.Close()) }, nil
}
