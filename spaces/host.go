package spaces

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"leasehold/coordinator/gate/foreign"
	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/pebble"
	"leasehold/shared/space/trace"
	"leasehold/shared/space/transaction"
)

// Config is what a host keeps, and where.
type Config struct {
	Folder     string            // of this host alone; made if it is not there. Empty: in memory
	Procedures space.Procedures  // transactions of the program
	Trace      func(trace.Event) // called with every event, once it is durable; or nil
	Insecure   bool              // gates may listen beyond this machine
	Log        *slog.Logger      // nil: slog.Default
}

// Host is a set of spaces in this process. Its methods may be called concurrently.
type Host struct {
	config  Config
	engine  *engine.Engine
	hub     *foreign.Hub   // of the gates for foreign programs
	closers []func() error // in the order in which they are called
	spaces  *worker        // runs the engine
	foreign *worker        // runs the hub

	mu      sync.Mutex // guards what follows
	stopped bool
	gates   map[string]*worker // by address
}

// worker is a goroutine to be stopped and waited for.
type worker struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // of the goroutine; set before ended is closed
}

// start runs run in a goroutine, until stop or until run returns by itself.
func start(run func(context.Context) error) *worker {
	ctx, cancel := context.WithCancel(context.Background())
	w := &worker{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		w.err = run(ctx)
	}()
	return w
}

// stop ends the goroutine, waits for it, and returns its error.
func (w *worker) stop() error {
	w.cancel()
	<-w.ended
	return w.err
}

// Start opens the spaces. The caller must Stop the host. It fails with fault.ErrConflict if another process uses the
// folder. After an error nothing stays open.
func Start(c Config) (*Host, error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	h := &Host{config: c, gates: map[string]*worker{}}
	j, err := h.openJournal()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("spaces: %w", err), h.close())
	}
	h.engine, err = engine.Open(context.Background(), engine.Config{
		Journal: j, Trace: c.Trace, Log: c.Log, Procedures: space.Join(c.Procedures, browse.Procedures(), interop.Procedures(nil), transaction.Procedures()),
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("spaces: %w", err), h.close())
	}
	h.hub = foreign.NewHub(foreign.Config{Engine: h.engine, Log: c.Log})
	h.spaces, h.foreign = start(h.engine.Run), start(h.hub.Run)
	return h, nil
}

// openJournal opens the journal in the folder, or one in memory if there is no folder. It locks
// the folder first, and adds to closers what it opened: the journal is closed before the folder
// is unlocked. After an error the caller calls close.
func (h *Host) openJournal() (journal.Journal, error) {
	if h.config.Folder == "" {
		return &journal.Memory{}, nil
	}
	unlock, err := datadir.Lock(h.config.Folder)
	if err != nil {
		return nil, err
	}
	h.closers = append(h.closers, unlock)
	j, err := pebble.Open(pebble.Config{Dir: filepath.Join(h.config.Folder, "journal"), Log: h.config.Log})
	if err != nil {
		return nil, err
	}
	h.closers = append([]func() error{j.Close}, h.closers...)
	return j, nil
}

// close calls the closers in their order, all of them, and returns their errors.
func (h *Host) close() (err error) {
	for _, f := range h.closers {
		err = errors.Join(err, f())
	}
	return err
}

// Delete deletes a space, and returns how many tuples it had. Unless force is set, it fails with fault.ErrConflict
// for a space with tuples. Calls that wait in it end with fault.ErrNotFound.
func (h *Host) Delete(ctx context.Context, name string, force bool) (removed int, err error) {
	return h.engine.DeleteSpace(ctx, name, force)
}

// Waiting returns the number of calls that wait for a tuple or for capacity.
func (h *Host) Waiting() int { return h.engine.Stats().Waiters }

// Stop closes the gates and ends all calls with fault.ErrClosed. Spaces in memory are gone then.
// It may be repeated. The engine ends before the gates, because these tell their clients then
// that the sessions have ended; the journal is closed last.
func (h *Host) Stop() error {
	h.mu.Lock()
	if h.stopped {
		h.mu.Unlock()
		return nil
	}
	h.stopped = true
	gates := h.gates
	h.gates = nil
	h.mu.Unlock()
	err := h.foreign.stop()
	err = errors.Join(err, h.spaces.stop())
	for _, g := range gates {
		err = errors.Join(err, g.stop())
	}
	return errors.Join(err, h.close())
}

func (h *Host) closedError() error { return fmt.Errorf("the host has stopped: %w", fault.ErrClosed) }
