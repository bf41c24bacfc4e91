package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/process/tracing"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
)

// job is one task while its handler runs.
type job struct {
	item     task.ClaimedTask
	shift    *shift
	actions  []string // of the slot
	began    time.Time
	client   task.Client
	log      *slog.Logger
	alive    context.Context // until the session ends
	draining <-chan struct{}
	stop     context.CancelCauseFunc // ends the context of the handler
	lines    lines
	resolved atomic.Bool
	claims   atomic.Bool                      // whether a call has claimed for the slot, or does
	next     atomic.Pointer[task.ClaimedTask] // that the slot has claimed with the last result; nil: none
	overdue  *time.Timer                      // stops the handler
}

func (j *job) Task() models.Task               { return j.item.Task }
func (j *job) Lease() (id string, token int64) { return j.item.Lease, j.item.Token }

// Parents returns how the parents of the task ended; see Job.
func (j *job) Parents() []task.ParentResult { return j.item.Parents }

// ReadParents yields how the parents of the task ended, with all results; see Job.
func (j *job) ReadParents(ctx context.Context) iter.Seq2[task.ParentResult, error] {
	if slices.ContainsFunc(j.item.Parents, func(p task.ParentResult) bool { return p.LeftOut }) {
		return j.client.Parents(ctx, j.item.ID)
	}
	return func(yield func(task.ParentResult, error) bool) {
		for _, p := range j.item.Parents {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func (j *job) Draining() <-chan struct{} { return j.draining }

// Report puts a result of a part; see Job. It returns fault.ErrStaleToken after the task was taken away, which
// also ends the context of the task.
func (j *job) Report(ctx context.Context, part string, body any) error {
	if err := j.checkProblem(body); err != nil {
		return err
	}
	return j.restart(j.stopIfStale(j.client.Report(ctx, j.item.Item, part, false, body)))
}

// Resolve puts the last result; see Job. With an error the task is not resolved: checkProblem refused
// the body (fault.ErrInvalid), the token is stale (fault.ErrStaleToken), which also ends the context
// of the task, or the call failed.
func (j *job) Resolve(ctx context.Context, part string, body any) error {
	if err := j.checkProblem(body); err != nil {
		return err
	}
	err := j.stopIfStale(j.resolveAndClaim(ctx, task.ToResolve(j.item.Item, part, body).WithOutput(j.lines.text())))
	if err == nil {
		j.resolved.Store(true)
		j.shift.resume(j.item.Action)
	}
	return err
}

// PassOn gives the task to another worker; see Job.
func (j *job) PassOn(ctx context.Context, err error) error { return j.shift.passOn(ctx, j, err) }

// resolveAndClaim ends the task with o, and in the same call claims the next task for the slot,
// unless the worker drains or an earlier call has claimed one. It stores the claimed task in
// j.next. Its error is why the task was not ended; one about the claim only is logged, because the
// task ended.
func (j *job) resolveAndClaim(ctx context.Context, o task.Outcome) error {
	toClaim := 0
	actions, _ := j.shift.claimable(j.actions)
	if len(actions) > 0 && ctx.Err() == nil && !isClosed(j.draining) && j.claims.CompareAndSwap(false, true) {
		// Not ctx: if the handler's context ended before the answer came, the session would hold
		// the claimed task and no slot would know it.
		toClaim, ctx = 1, j.alive
	}
	ends, claimed, err := j.client.Next(ctx, []task.Outcome{o}, toClaim, actions...)
	switch {
	case len(claimed) > 0:
		j.next.Store(&claimed[0])
	case toClaim > 0:
		j.claims.Store(false) // nothing was claimed, so a repeated call may claim
	}
	if len(ends) == 0 { // the call failed as a whole
		return err
	}
	if err != nil { // of the claimed task
		logMalformed(j.log, err)
	}
	return ends[0].Err // nil if the outcome was accepted
}

// logMalformed logs that a task was claimed that could not be read.
func logMalformed(log *slog.Logger, err error) {
	log.Error("worker: malformed task, left to its timeout", "error", err)
}

func (j *job) Note(ctx context.Context, p models.Progress) error {
	return j.restart(j.client.Note(ctx, j.item.Item, p))
}

// stopLate is how long after its timeout a handler is stopped at the latest. The coordinator stops it at the timeout,
// if it can be reached.
const stopLate = time.Second

// watch stops the handler if the coordinator has not by then.
func (j *job) watch() {
	timeout := j.item.Timeout.Duration()
	if timeout <= 0 { // a task that was put without one
		return
	}
	j.overdue = time.AfterFunc(timeout+stopLate, func() {
		j.stop(fmt.Errorf("%w: timed out after %s, and the coordinator has not told it", errStopped, timeout))
	})
}

func (j *job) forget() {
	if j.overdue != nil {
		j.overdue.Stop()
	}
}

// restart restarts the timeout unless err tells that the coordinator did not, and returns err.
func (j *job) restart(err error) error {
	if err == nil && j.overdue != nil && j.overdue.Stop() {
		j.overdue.Reset(j.item.Timeout.Duration() + stopLate)
	}
	return err
}

func (j *job) Log(line string) { j.lines.add(line) }

func (j *job) Spend(ctx context.Context, c models.Cost) error {
	c.Action = j.item.Action
	return status.Spend(ctx, j.client.Repo, c)
}

// checkProblem returns fault.ErrInvalid with the reason if body names a problem and the task has no
// lease: no manager would record the problem. Then the reason reaches the user with the released task.
func (j *job) checkProblem(body any) error {
	if p, ok := body.(Problem); ok && j.item.Lease == "" && p.Fault() != "" {
		return fmt.Errorf("%s: %w", strings.TrimSuffix(p.Fault(), ": "+fault.ErrInvalid.Error()), fault.ErrInvalid)
	}
	return nil
}

// stopIfStale returns err, and ends the handler's context if err means that the token is stale.
// Another worker has the task then.
func (j *job) stopIfStale(err error) error {
	if errors.Is(err, fault.ErrStaleToken) {
		j.stop(err)
	}
	return err
}

// runTask runs the handler of one task, and gives the task back if the handler did not resolve
// it. It returns the next task of the slot if that was claimed with the result, and the error
// of a session that has ended, or ErrStuck.
func (s *shift) runTask(draining, alive context.Context, item task.ClaimedTask, actions []string) (next *task.ClaimedTask, err error) {
	ctx, stop := context.WithCancelCause(alive)
	defer stop(nil)
	j := &job{item: item, shift: s, actions: actions, began: time.Now(), client: s.client, log: s.Log, alive: alive, draining: draining.Done(), stop: stop}
	finished := s.addRunning(item.Item, stop)
	defer finished()
	j.watch()
	defer j.forget()
	handled := make(chan error, 1)
	named := status.WithAttrs(ctx, slog.String("session", s.repo.Session()), slog.String("task", item.ID))
	go func() { handled <- s.handleInSpan(named, j) }()
	select {
	case err := <-handled:
		return j.next.Load(), s.giveBackUnresolved(alive, ctx, j, err)
	case <-ctx.Done():
	}
	select {
	case err := <-handled:
		return j.next.Load(), s.giveBackUnresolved(alive, ctx, j, err)
	case <-time.After(s.Grace):
		return nil, fmt.Errorf("%w: %s %s, %s after its context ended: %w", ErrStuck, item.Action, item.ID, s.Grace, context.Cause(ctx))
	}
}

// handleInSpan calls the handler within the span of the attempt.
func (s *shift) handleInSpan(ctx context.Context, j *job) error {
	ctx, end := s.Spans.BeginAttempt(ctx, tracing.Attempt{Action: j.item.Action, Task: j.item.ID, Session: s.repo.Session(), Number: j.item.Attempts + 1, Parent: j.item.Trace})
	err := handle(ctx, Wrap(s.Handlers[j.item.Action], s.Wrap...), j)
	switch {
	case j.resolved.Load():
		end("done", "")
	case ctx.Err() != nil:
		end("stopped", context.Cause(ctx).Error())
	case err == nil && isClosed(j.draining):
		end("stopped", errDrained.Error())
	case err == nil:
		end("failed", errNoResult.Error())
	default:
		end("failed", models.Redact(firstLine(err)))
	}
	return err
}

// handle calls the handler, and turns a panic into an error with its stack.
func handle(ctx context.Context, h Handler, j *job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the handler panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return h.Handle(ctx, j)
}

// giveBackUnresolved gives back a task that its handler has not resolved; err is the handler's
// error. If the worker drains, it hands the task back, which does not count as an attempt;
// otherwise it releases it. If another worker has the task or the session ended, it does nothing.
// Its calls use alive, because ctx, the handler's, may have ended. It returns an error that ends
// the session, or nil.
func (s *shift) giveBackUnresolved(alive, ctx context.Context, j *job, err error) error {
	if j.resolved.Load() {
		return nil
	}
	cause := context.Cause(ctx)
	log := s.Log.With("task", j.item.ID, "action", j.item.Action, "subject", j.item.Subject)
	switch {
	case errors.Is(cause, errStopped), errors.Is(cause, fault.ErrStaleToken):
		log.Warn("worker: the task was taken away", "cause", cause)
		return nil
	case errors.Is(cause, errSession):
		return nil
	case errors.Is(cause, errDrained), err == nil && isClosed(j.draining):
		log.Info("worker: task handed back", "cause", cause)
		return s.sessionError(alive, s.client.HandBack(alive, j.item.Item))
	case err == nil:
		err = errNoResult
	}
	return s.sessionError(alive, s.giveBack(alive, log, j, err))
}

// giveBack gives back a task whose handler failed with err. If this machine is the cause (unable.go), or for a
// Failure with Later, the attempt does not count; with GiveUp the task becomes a dead letter; otherwise the attempt
// counts.
func (s *shift) giveBack(ctx context.Context, log *slog.Logger, j *job, err error) error {
	f, item := &Failure{}, j.item.Item
	switch told := errors.As(err, &f); {
	case told && f.GiveUp:
	case isUnable(err):
		log.Warn("worker: task handed back, because this machine cannot do it", "error", err)
		s.suspend(item.Action, j.began, minPause, err)
		return s.client.HandBack(ctx, item)
	case told && f.Later > 0:
		log.Info("worker: task handed back for later", "reason", err, "delay", f.Later)
		return s.client.HandBackFor(ctx, item, min(f.Later, task.MaxDelay))
	case lacksPath(err):
		log.Warn("worker: this machine lacks what the task needs", "error", err)
		if err = s.passOn(ctx, j, err); err == nil || !errors.As(err, new(*lacking)) {
			return err
		}
	}
	if f.GiveUp {
		log.Warn("worker: no worker can do the task", "error", err)
	} else {
		log.Warn("worker: task released, another worker may try", "error", err)
	}
	return s.client.Fail(ctx, item, task.Failure{
		Reason: models.Redact(firstLine(err)), Output: cmp.Or(models.Redact(f.Output), j.lines.text()), GiveUp: f.GiveUp,
	})
}

// isClosed reports whether a channel, on which nothing is sent, is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// sessionError returns err if it ends the session. A stale token does not, because it
// means that the task was given back already. Nor does an error after alive has ended:
// then the task returns when the session is closed or lost.
func (s *shift) sessionError(alive context.Context, err error) error {
	if errors.Is(err, fault.ErrStaleToken) || err != nil && alive.Err() != nil {
		return nil
	}
	return err
}

// firstLine returns the first line of an error for the task's history, without what lies beyond about
// longest bytes. It cuts between characters.
func firstLine(err error) string {
	const longest = 400
	text := err.Error()
	for i, r := range text {
		if r == '\n' || i >= longest {
			return text[:i]
		}
	}
	return text
}
