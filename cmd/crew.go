package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"leasehold/coordinator"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/task"
	"leasehold/shared/trace"
	"leasehold/shared/visit"
	"leasehold/shared/work"
)

const (
	// visitTimeout is how long a manager may take for one visit.
	visitTimeout = 30 * time.Minute
	// ingestTimeout is how long a manager may hold a result.
	ingestTimeout = time.Minute
	// journalDir is where the spaces are kept in a data folder.
	journalDir = "journal"
	// grace is how long a handler or a session may take to end once it was told.
	grace = 10 * time.Second
)

// crew is what one process runs around a coordinator.
type crew struct {
	*house
	spaces      journal.Journal          // once host has opened it
	coordinator *coordinator.Coordinator // once host has made it
	repo        space.Repository         // of the command itself
	before      map[string]int64         // what lease.Totals counted before this run

	mu   sync.Mutex // guards errs
	errs []error
}

// host runs a coordinator and, once it is ready, its users beside during. When
// during returns, a part fails or ctx ends, all end: the coordinator last, since
// the others still have to hand back.
func (w *crew) host(ctx context.Context, users []func(context.Context) error, during func(context.Context) error) error {
	traced, closeTrace, err := openTrace(w.cfg.Trace, w.log)
	if err != nil {
		return err
	}
	spaces, err := w.openJournal()
	if err != nil {
		return errors.Join(err, closeTrace())
	}
	w.spaces = spaces
	w.coordinator, err = coordinator.New(ctx, coordinator.Config{
		Journal: spaces, Catalog: w.catalog, Work: w.policy(),
		Visit: visit.Policy{Timeout: visitTimeout}, Trace: traced, Log: w.log,
	})
	if err != nil {
		return errors.Join(err, spaces.Close(), closeTrace())
	}
	using, stop := context.WithCancel(ctx)
	defer stop()
	hosting, stopHosting := context.WithCancel(context.WithoutCancel(ctx))
	defer stopHosting()
	var hosted sync.WaitGroup
	ready := make(chan struct{})
	hosted.Go(func() {
		w.note(w.coordinator.Run(hosting, func() { close(ready) }))
		stop()
	})
	select {
	case <-ready:
		w.use(using, stop, users, during)
	case <-using.Done():
	}
	stopHosting()
	hosted.Wait()
	return errors.Join(append(w.errs, spaces.Close(), closeTrace())...)
}

// use runs the users, and during beside them; the first that ends with an error,
// or the end of during, ends all.
func (w *crew) use(ctx context.Context, stop func(), users []func(context.Context) error, during func(context.Context) error) {
	var err error
	if w.repo, err = w.coordinator.Connect(ctx, "run", 0); err != nil {
		w.note(err)
		return
	}
	if w.before, err = lease.Totals(ctx, w.repo); err != nil {
		w.note(err)
		return
	}
	var running sync.WaitGroup
	for _, user := range users {
		running.Go(func() {
			if err := user(ctx); err != nil {
				w.note(err)
				stop()
			}
		})
	}
	w.note(during(ctx))
	stop()
	running.Wait()
}

// note keeps an error for the end.
func (w *crew) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.errs = append(w.errs, err)
	}
}

func (w *crew) policy() work.Policy {
	return work.Policy{
		Task:     task.Policy{MaxAttempts: int64(w.cfg.MaxAttempts), Backoff: w.cfg.ReleaseBackoff},
		LeaseTTL: w.cfg.LeaseTTL, QueueTTL: w.cfg.QueueTTL, Ingest: ingestTimeout,
	}
}

// openJournal opens what makes the spaces durable, as it is configured.
func (h *house) openJournal() (journal.Journal, error) {
	if h.cfg.Journal == config.JournalMemory {
		return &journal.Memory{}, nil
	}
	return pebble.Open(pebble.Config{Dir: filepath.Join(h.cfg.Data, journalDir), Log: h.log})
}

// openTrace opens the file that events are logged to. A log that ends before its
// time is complained about at once, and when it is closed.
func openTrace(path string, log *slog.Logger) (write func(trace.Event), closeFile func() error, err error) {
	if path == "" {
		return nil, func() error { return nil }, nil
	}
	f, err := trace.Open(path, func(err error) { log.Error("the trace has ended", "error", err) })
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return f.Write, f.Close, nil
}
