package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/task"
)

// ErrStuck is the error of a handler that did not return after its context had ended.
var ErrStuck = errors.New("a handler did not stop")

var (
	errStopped = errors.New("the coordinator stopped the task")
	errDrained = errors.New("the worker stops")
	errSession = errors.New("the session ended")
)

// Config is the configuration of a worker.
type Config struct {
	Handlers  map[string]Handler // by action; at least one
	Slots     int                // tasks at a time, at least 1
	Heartbeat time.Duration
	Drain     time.Duration // how long handlers may finish when the worker stops
	Grace     time.Duration // how long a handler may take to return once its context ended; a stop takes at most Drain and Grace
	Log       *slog.Logger  // nil: slog.Default
}

// Run works until ctx ends or the coordinator asks it to drain (status.Drain), then
// drains, and returns nil. It replaces a lost session by a new one. Its error is ErrStuck
// or that of connect.
func Run(ctx context.Context, connect status.Connect, c Config) error {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	err := status.Reconnect(ctx, connect, c.Log, func(ctx context.Context, repo space.Repository) error {
		return newShift(repo, c).run(ctx)
	})
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	return nil
}

// shift is the work of one session.
type shift struct {
	Config
	repo      space.Repository
	client    task.Client
	heartbeat *status.Heartbeat
	actions   []string

	mu       sync.Mutex // guards the fields below
	running  map[string]context.CancelCauseFunc
	last     string // action and id of the last task
	draining bool
}

func newShift(repo space.Repository, c Config) *shift {
	s := &shift{Config: c, repo: repo, client: task.Client{Repo: repo}, running: map[string]context.CancelCauseFunc{}}
	s.actions = slices.Sorted(maps.Keys(c.Handlers))
	serves := map[string]int{}
	for _, a := range s.actions {
		serves[a] = c.Slots
	}
	s.heartbeat = status.NewHeartbeat(repo, c.Heartbeat, serves)
	return s
}

// run works until ctx ends, the coordinator asks it to drain, or the session ends. It
// waits for all goroutines that it starts, except for handlers that are stuck.
func (s *shift) run(ctx context.Context) error {
	ctx, drain := context.WithCancel(ctx)
	defer drain()
	// Calls to the coordinator continue while the worker drains, so they do not end with ctx.
	alive, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	var background, slots sync.WaitGroup
	failed := make(chan error, s.Slots+2)
	background.Go(func() { s.fail(failed, s.heartbeat.Run(alive)) })
	background.Go(func() { s.fail(failed, s.listen(alive, drain)) })
	claiming, stopClaiming := context.WithCancel(ctx)
	defer stopClaiming()
	for range s.Slots {
		slots.Go(func() { s.fail(failed, s.slot(claiming, alive)) })
	}
	idle := make(chan struct{})
	go func() { slots.Wait(); close(idle) }()

	var err error
	select {
	case err = <-failed:
		s.stopAll(errSession)
	case <-ctx.Done():
		// A coordinator that is unreachable must not keep the worker: tasks are handed back
		// until half of the grace has passed, and the rest is for closing the session.
		ended := time.Now().Add(s.Drain + s.Grace)
		defer time.AfterFunc(time.Until(ended)-s.Grace/2, func() { end(errSession) }).Stop()
		s.drain(idle)
		<-idle
		end(errSession)
		background.Wait()
		s.close(ended)
	}
	stopClaiming()
	<-idle
	end(errSession)
	background.Wait()
	select {
	case other := <-failed:
		if err == nil && errors.Is(other, fault.ErrClosed) {
			return nil // the session ended as requested, and its holds with it
		}
		return errors.Join(err, other)
	default:
		return err
	}
}

func (s *shift) fail(failed chan<- error, err error) {
	if err != nil {
		failed <- err
	}
}

// drain waits for the handlers for at most Config.Drain, then ends them.
func (s *shift) drain(idle <-chan struct{}) {
	s.mu.Lock()
	s.draining = true
	s.show()
	s.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(s.Drain):
		s.stopAll(errDrained)
	}
}

// close closes the session by a deadline. If the coordinator is unreachable, the session
// is lost when its TTL is over, and Run still returns nil.
func (s *shift) close(by time.Time) {
	ctx, cancel := context.WithDeadline(context.Background(), by)
	defer cancel()
	if err := s.repo.Close(ctx); err != nil {
		s.Log.Warn("worker: the session could not be closed", "session", s.repo.Session(), "error", err)
	}
}

// listen handles the messages of the coordinator.
func (s *shift) listen(ctx context.Context, drain func()) error {
	for {
		message, err := s.repo.Receive(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if id, reason, ok := task.ParseStop(message); ok {
			s.stop(id, fmt.Errorf("%w: %s", errStopped, reason))
		}
		if status.IsDrain(message) {
			s.Log.Info("worker: draining on request", "session", s.repo.Session())
			drain()
		}
	}
}

// slot claims and does tasks, one after the other, until claiming ends.
func (s *shift) slot(claiming, alive context.Context) error {
	for {
		item, err := s.client.Claim(claiming, s.actions...)
		switch {
		case claiming.Err() != nil && err != nil:
			return nil
		case errors.Is(err, fault.ErrCorrupt):
			s.Log.Error("worker: malformed task, left to its timeout", "error", err)
			continue
		case err != nil:
			return err
		}
		if err := s.do(claiming, alive, item); err != nil {
			return err
		}
	}
}

// started adds a task to the running ones, and returns the function that removes it.
func (s *shift) started(item task.Item, stop context.CancelCauseFunc) (finished func()) {
	s.mu.Lock()
	s.running[item.ID] = stop
	s.last = item.Action + " " + item.ID
	s.show()
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		delete(s.running, item.ID)
		s.show()
		s.mu.Unlock()
	}
}

// show reports the state of the worker in its heartbeat. The caller holds mu.
func (s *shift) show() {
	switch {
	case s.draining:
		s.heartbeat.SetState("draining")
	case len(s.running) == 0:
		s.heartbeat.SetState("idle, last task: " + s.last)
	default:
		s.heartbeat.SetState("Working on: " + s.last)
	}
}

func (s *shift) stop(id string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.running[id]; stop != nil {
		stop(cause)
	}
}

func (s *shift) stopAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stop := range s.running {
		stop(cause)
	}
}
