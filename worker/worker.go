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
	"leasehold/shared/process/tracing"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
)

// ErrStuck is the error of a handler that did not return after its context had ended.
var ErrStuck = errors.New("a handler did not stop")

var (
	errStopped = errors.New("the coordinator stopped the task")
	errDrained = errors.New("the worker stops")
	errSession = errors.New("the session ended")

	errNoResult = errors.New("the handler returned without a last result")
)

// Config is the configuration of a worker.
type Config struct {
	Handlers  map[string]Handler // by action; at least one
	Slots     int                // tasks at a time, at least 1, of the actions without own slots
	OwnSlots  map[string]int     // tasks at a time of an action that does not share Slots; by action, at least 1
	Wrap      []Middleware       // around each handler, the first outermost
	Heartbeat time.Duration
	Beat      func()         // called after each heartbeat that arrived; nil: nothing is called
	Drain     time.Duration  // how long handlers may finish when the worker stops
	Grace     time.Duration  // how long a handler may take to return once its context ended; a stop takes at most Drain and Grace
	Spans     *tracing.Spans // of attempts; nil: none
	Log       *slog.Logger   // nil: slog.Default
}

// Run works until ctx ends or the coordinator asks it to drain (status.Drain), then drains, and returns nil. It
// replaces a lost session by a new one. It fails with fault.ErrInvalid if c is not valid, with ErrStuck if a
// handler does not stop, or if connect fails.
func Run(ctx context.Context, connect status.Connect, c Config) error {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if err := c.check(); err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	err := status.Reconnect(ctx, connect, c.Log, func(ctx context.Context, repo space.Repository) error {
		return newShift(repo, c).run(ctx)
	})
	if err != nil {
		return fmt.Errorf("worker: %w", err)
	}
	return nil
}

// check returns fault.ErrInvalid for less than one slot, for own slots of an action without a handler,
// and for more actions than a session can serve.
func (c Config) check() error {
	if len(c.Handlers) > status.MaxServed {
		return fmt.Errorf("%w: %d actions: one worker does at most %d", fault.ErrInvalid, len(c.Handlers), status.MaxServed)
	}
	if c.Slots < 1 {
		return fmt.Errorf("%w: %d slots: want at least 1", fault.ErrInvalid, c.Slots)
	}
	for action, n := range c.OwnSlots {
		if c.Handlers[action] == nil || n < 1 {
			return fmt.Errorf("%w: %d own slots of the action %q: want at least 1, and a handler of the action", fault.ErrInvalid, n, action)
		}
	}
	return nil
}

// pool is a number of slots that serve the same actions.
type pool struct {
	slots   int
	actions []string
}

// pools returns the slots of a worker: those of the actions that have their own, and those that
// the others share.
func (c Config) pools() (all []pool) {
	shared := pool{slots: c.Slots}
	for _, action := range slices.Sorted(maps.Keys(c.Handlers)) {
		if n, own := c.OwnSlots[action]; own {
			all = append(all, pool{n, []string{action}})
		} else {
			shared.actions = append(shared.actions, action)
		}
	}
	if len(shared.actions) > 0 {
		all = append(all, shared)
	}
	return all
}

// shift is the work of one session.
type shift struct {
	Config
	repo      space.Repository
	client    task.Client
	heartbeat *status.Heartbeat
	pools     []pool

	mu       sync.Mutex                         // guards the fields below
	running  map[string]context.CancelCauseFunc // by the id of the task
	pauses   map[string]pause                   // by action; of those that this machine cannot do
	last     string                             // action and id of the task that began last; "" if there was none
	draining bool
}

// newShift returns the work of a session that has not begun. Its heartbeat tells the slots of
// each action; actions that share slots each have all of them.
func newShift(repo space.Repository, c Config) *shift {
	s := &shift{Config: c, repo: repo, client: task.Client{Repo: repo}, running: map[string]context.CancelCauseFunc{}, pauses: map[string]pause{}}
	s.Log = c.Log.With("session", repo.Session())
	serves := map[string]int{}
	for _, p := range c.pools() {
		s.pools = append(s.pools, p)
		for _, action := range p.actions {
			serves[action] = p.slots
		}
	}
	s.heartbeat = status.NewHeartbeat(repo, c.Heartbeat, serves)
	s.heartbeat.Arrived = c.Beat
	return s
}

// run works until ctx ends, the coordinator asks it to drain, or the session ends. It
// waits for all goroutines that it starts, except for handlers that are stuck. Two contexts
// end its goroutines: claiming ends first, so that slots claim nothing new, and alive last, so that
// results and released tasks still reach the coordinator. It returns nil if it drained, ErrStuck,
// or the error of the session.
func (s *shift) run(ctx context.Context) error {
	ctx, drain := context.WithCancel(ctx)
	defer drain()
	// Calls to the coordinator continue while the worker drains, so they do not end with ctx.
	alive, end := context.WithCancelCause(context.WithoutCancel(ctx))
	var background, slots sync.WaitGroup
	total := 0
	for _, p := range s.pools {
		total += p.slots
	}
	failed := make(chan error, total+2) // has capacity for an error of each goroutine, so none blocks
	background.Go(func() { s.report(failed, s.heartbeat.Run(alive)) })
	background.Go(func() { s.report(failed, s.listen(alive, drain)) })
	claiming, stopClaiming := context.WithCancel(ctx)
	for _, p := range s.pools {
		for range p.slots {
			slots.Go(func() { s.report(failed, s.runSlot(claiming, alive, p.actions)) })
		}
	}
	idle := make(chan struct{})
	go func() { slots.Wait(); close(idle) }()

	var err error
	select {
	case err = <-failed:
		s.stopAll(errSession)
	case <-ctx.Done():
		s.drainSlots(idle, end, &background)
	}
	// Already done if the worker drained.
	stopClaiming()
	<-idle
	end(errSession)
	background.Wait()
	close(failed) // no goroutine is left that sends
	all := []error{err}
	for other := range failed { // of goroutines that ended meanwhile
		all = append(all, other)
	}
	return resultOf(all)
}

// resultOf returns the error of a session from the errors of its goroutines. The first one ended it, and is nil
// if the worker drained. ErrStuck is returned alone, because joined with it a lost session would be replaced, and
// the handler would go on beside the next ones.
func resultOf(all []error) error {
	if stuck := slices.IndexFunc(all, func(err error) bool { return errors.Is(err, ErrStuck) }); stuck >= 0 {
		return all[stuck]
	}
	if all[0] == nil { // the session ended as requested, and its holds with it
		all = slices.DeleteFunc(all, func(err error) bool { return errors.Is(err, fault.ErrClosed) })
	}
	return errors.Join(all...)
}

// report sends err to failed, unless it is nil.
func (s *shift) report(failed chan<- error, err error) {
	if err != nil {
		failed <- err
	}
}

// drainSlots waits until all slots have returned (idle), then ends the calls to the coordinator (end) and the
// background goroutines, and closes the session. An unreachable coordinator must not keep the worker: tasks are
// handed back until half of the grace has passed, and the rest is for closing the session.
func (s *shift) drainSlots(idle <-chan struct{}, end context.CancelCauseFunc, background *sync.WaitGroup) {
	deadline := time.Now().Add(s.Drain + s.Grace)
	defer time.AfterFunc(time.Until(deadline)-s.Grace/2, func() { end(errSession) }).Stop()
	s.awaitHandlers(idle)
	<-idle
	end(errSession)
	background.Wait()
	s.close(deadline)
}

// awaitHandlers waits until idle is closed, because all handlers have returned. After Config.Drain it
// ends their contexts with errDrained and returns.
func (s *shift) awaitHandlers(idle <-chan struct{}) {
	s.mu.Lock()
	s.draining = true
	s.showState()
	s.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(s.Drain):
		s.stopAll(errDrained)
	}
}

// close closes the session by a deadline. An error is logged only: if the coordinator is
// unreachable, the session is lost when no heartbeat comes, and Run still returns nil.
func (s *shift) close(by time.Time) {
	ctx, cancel := context.WithDeadline(context.Background(), by)
	defer cancel()
	status.Leave(ctx, s.repo, "stopped; tasks that had not finished were handed back")
	if err := s.repo.Close(ctx); err != nil {
		s.Log.Warn("worker: the session could not be closed", "error", err)
	}
}

// listen handles the messages of the coordinator until ctx ends, then it returns nil: a message that stops a task
// ends the task's context, and one that asks to drain calls drain.
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
			s.stopTask(id, fmt.Errorf("%w: %s", errStopped, reason))
		}
		if status.IsDrain(message) {
			s.Log.Info("worker: draining on request")
			drain()
		}
	}
}

// runSlot claims and does tasks of some actions, one after the other, until claiming ends; then it returns nil.
// next is the task that was claimed together with the last result, if any; when claiming has ended by then, or its
// action is paused, it is handed back.
func (s *shift) runSlot(claiming, alive context.Context, actions []string) error {
	var next *task.ClaimedTask
	for {
		if next == nil {
			var err error
			next, err = s.claimOne(claiming, actions)
			switch {
			case claiming.Err() != nil && next == nil:
				return nil
			case errors.Is(err, fault.ErrCorrupt): // the task, not the session
				logMalformed(s.Log, err)
				continue
			case err != nil:
				return err
			case next == nil:
				continue
			}
		}
		ready, _ := s.claimable([]string{next.Action})
		if claiming.Err() != nil || len(ready) == 0 {
			err := s.sessionError(alive, s.client.HandBack(alive, next.Item))
			if next = nil; err != nil || claiming.Err() != nil {
				return err
			}
			continue
		}
		var err error
		if next, err = s.runTask(claiming, alive, *next, actions); err != nil {
			return err
		}
	}
}

// claimOne waits for a task of those of actions that are not paused. It returns nil without an error when a pause
// ends, because then there is one action more.
func (s *shift) claimOne(claiming context.Context, actions []string) (*task.ClaimedTask, error) {
	ready, pauseEnds := s.claimable(actions)
	ctx := claiming
	if !pauseEnds.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(claiming, pauseEnds)
		defer cancel()
	}
	if len(ready) == 0 {
		<-ctx.Done()
		return nil, nil
	}
	claimed, err := s.client.ClaimUpTo(ctx, 1, ready...)
	switch {
	case err == nil:
		return &claimed[0], nil
	case claiming.Err() == nil && ctx.Err() != nil:
		return nil, nil
	}
	return nil, err
}

// addRunning adds a task to the running ones, whose context stop ends, and returns the function that
// removes it.
func (s *shift) addRunning(item task.Item, stop context.CancelCauseFunc) (finished func()) {
	s.mu.Lock()
	s.running[item.ID] = stop
	s.last = item.Action + " " + item.ID
	s.showState()
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		delete(s.running, item.ID)
		s.showState()
		s.mu.Unlock()
	}
}

// showState reports the state of the worker in its heartbeat: draining, idle or at work, with the
// task that it began last, and before it what this machine cannot do. The caller holds mu.
func (s *shift) showState() {
	paused := s.pausesText()
	switch {
	case s.draining:
		s.heartbeat.SetState("draining")
	case len(s.running) == 0:
		s.heartbeat.SetState(paused + "idle, last task: " + s.last)
	default:
		s.heartbeat.SetState(paused + "Working on: " + s.last)
	}
}

// stopTask ends the context of a task that runs with cause. A task that has ended is left alone.
func (s *shift) stopTask(id string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stop := s.running[id]; stop != nil {
		stop(cause)
	}
}

// stopAll ends the contexts of all tasks that run with cause.
func (s *shift) stopAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stop := range s.running {
		stop(cause)
	}
}
