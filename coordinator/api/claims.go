package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/protocol/idempotency"
	"leasehold/shared/protocol/task"
)

// claimTasks ends tasks of the session of a worker (finish), and then claims tasks for it. The answer has no
// tasks if none came in time. If the response cannot be written, the claimed tasks are handed back at once.
func (s *server) claimTasks(ctx context.Context, q *request, n types.NewTaskClaims) (types.ClaimedTasks, error) {
	answer := types.ClaimedTasks{Items: []types.ClaimedTask{}}
	wait, err := seconds("wait", n.Wait, maxWait)
	if err != nil {
		return answer, err
	}
	limit := 1
	if n.Limit != nil {
		limit = *n.Limit
	}
	if limit < 0 || limit > task.MaxClaims {
		return answer, fmt.Errorf("limit %d: %w: want 0 to %d", limit, fault.ErrInvalid, task.MaxClaims)
	}
	if err := s.Acks.Check(); err != nil {
		return answer, err
	}
	w, err := s.keepAlive(ctx, q)
	if err != nil {
		return answer, err
	}
	if len(n.Actions) == 0 {
		n.Actions = w.actions
	}
	if len(n.Actions) == 0 {
		return answer, fmt.Errorf("actions: %w: want at least one, because the session serves none", fault.ErrConflict)
	}
	// They are checked here, because a claim that does not wait may end before the protocol does.
	for _, action := range n.Actions {
		if !models.ValidID(action) {
			return answer, fmt.Errorf("actions: %.64q: %w: %s", action, fault.ErrInvalid, models.IDRule)
		}
	}
	client := task.Client{Repo: q.idempotent(w.repo), Reads: w.repo}
	var claimed []task.ClaimedTask
	if len(n.Finish) > 0 {
		if answer.Finished, claimed, err = finishTasks(ctx, client, n.Finish, limit, n.Actions); err != nil {
			return answer, err
		}
		wait = 0 // the worker shall know soon what became of its tasks
	}
	if limit > 0 && len(claimed) == 0 {
		if claimed, err = w.claim(ctx, client, limit, wait, n.Actions); err != nil {
			return answer, err
		}
	}
	for _, c := range claimed {
		answer.Items = append(answer.Items, showClaimed(c))
	}
	q.finish = func(written bool) {
		if !written {
			s.undoClaims(context.WithoutCancel(ctx), w, q.keyed, claimed, len(n.Finish) > 0)
		}
	}
	return answer, nil
}

// finishTasks ends tasks of a session and claims up to a number of tasks, in one transaction and without waiting. It
// returns what became of each end, in the order of all. An error means that no task was ended.
func finishTasks(ctx context.Context, client task.Client, all []types.Finish, claims int, actions []string) ([]types.Finished, []task.ClaimedTask, error) {
	outcomes := make([]task.Outcome, len(all))
	for n, f := range all {
		var err error
		if outcomes[n], err = outcomeOf(ctx, f); err != nil {
			return nil, nil, fmt.Errorf("finish %d, task %.200q: %w", n+1, f.Task, err)
		}
	}
	ends, claimed, err := client.Next(ctx, outcomes, claims, actions...)
	if err != nil {
		return nil, nil, err
	}
	finished := make([]types.Finished, len(all))
	for n, end := range ends {
		finished[n].Task = all[n].Task
		if end.Err != nil {
			finished[n].Code, finished[n].Detail = fault.Of(end.Err).Code, end.Err.Error()
		}
		for _, c := range end.Created {
			finished[n].Created = append(finished[n].Created, showNew(c))
		}
	}
	return finished, claimed, nil
}

// outcomeOf converts how a task shall end, which must be exactly one of the three ways.
func outcomeOf(ctx context.Context, f types.Finish) (task.Outcome, error) {
	held := func(token int64) task.Item { return task.Item{Task: models.Task{ID: f.Task}, Token: token} }
	switch {
	case f.Resolve != nil && f.Resolve.Token == 0, f.Release != nil && f.Release.Token == 0, f.HandBack != nil && f.HandBack.Token == 0:
		return task.Outcome{}, errNoToken
	case f.Resolve != nil && f.Release == nil && f.HandBack == nil:
		create, err := newTasks(ctx, f.Resolve.Create)
		return task.ToResolve(held(f.Resolve.Token), "", f.Resolve.Result, create...).WithOutput(f.Resolve.Output), err
	case f.Release != nil && f.Resolve == nil && f.HandBack == nil:
		failure, err := failureOf(*f.Release)
		return task.ToRelease(held(f.Release.Token), failure), err
	case f.HandBack != nil && f.Resolve == nil && f.Release == nil:
		delay, err := seconds("delay", f.HandBack.Delay, maxTTL)
		return task.ToHandBack(held(f.HandBack.Token), delay), err
	}
	return task.Outcome{}, fmt.Errorf("%w: want one of resolve, release and hand_back", fault.ErrInvalid)
}

func failureOf(r types.Release) (task.Failure, error) {
	delay, err := seconds("delay", r.Delay, maxTTL)
	return task.Failure{Reason: r.Error, Delay: delay, Output: r.Output, GiveUp: r.GiveUp}, err
}

// claim claims up to n tasks of the actions, and waits up to wait for the first one. It returns none, without an
// error, if none came in time or the server stops. A claim that may not wait has no time limit at first, so that
// a busy machine or a slow disk never hides a waiting task. While it waits, its client is connected, which is a
// sign of life: so it ends the wait several times in each TTL, sends a heartbeat, and begins again.
func (w *worker) claim(ctx context.Context, client task.Client, n int, wait time.Duration, actions []string) ([]task.ClaimedTask, error) {
	if wait == 0 {
		_, claimed, err := client.Next(ctx, nil, n, actions...)
		if err != nil || len(claimed) > 0 {
			return claimed, err
		}
	}
	for end := time.Now().Add(wait); ; {
		var claimed []task.ClaimedTask
		err := waitFor(ctx, min(max(time.Until(end), minClaimWait), w.ttl/3), func(ctx context.Context) (err error) {
			claimed, err = client.ClaimUpTo(ctx, n, actions...)
			return err
		})
		waitEnded := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
		if !waitEnded || ctx.Err() != nil {
			return claimed, err
		}
		if time.Until(end) <= 0 || draining(ctx) {
			return nil, nil
		}
		if err := w.heartbeat.Beat(ctx); err != nil {
			return nil, err
		}
	}
}

// minClaimWait is the wait of a claim that may not wait and found no task at once. It is for the
// tasks behind many that cannot be claimed, which each claim moves out of the way.
const minClaimWait = 5 * time.Millisecond

// undoClaims hands back tasks whose claims their session never heard of, so that a repeated request claims again. If the
// first call of the request ended tasks (finishes), that keeps its effect, and its answer but for what it claimed. What
// the spaces refuse for now is repeated; another error only means that the session has ended, and its claims with it.
// keyed may be nil.
func (s *server) undoClaims(ctx context.Context, w *worker, keyed *idempotency.Keyed, claimed []task.ClaimedTask, finishes bool) {
	held := make([]task.Item, len(claimed)) // without their data, because they may be kept for long
	for i, c := range claimed {
		held[i] = task.Item{Task: models.Task{ID: c.ID}, Token: c.Token}
	}
	client := task.Client{Repo: w.repo}
	err := s.Acks.Do(ctx, func(ctx context.Context) error {
		for ; len(held) > 0; held = held[1:] {
			err := client.HandBack(ctx, held[0])
			if retry.CanPass(err) {
				return err
			}
			if err != nil {
				s.Log.Debug("api: a claim could not be undone", "task", held[0].ID, "session", w.Session(), "error", err)
			}
		}
		return forgetClaims(ctx, keyed, finishes)
	})
	if err != nil {
		s.Log.Debug("api: claims could not be undone", "session", w.Session(), "error", err)
	}
}

// forgetClaims removes the answers of a request that was undone, but for what its first call ended (finishes). keyed may
// be nil.
func forgetClaims(ctx context.Context, keyed *idempotency.Keyed, finishes bool) error {
	switch {
	case keyed == nil:
		return nil
	case finishes:
		return errors.Join(keyed.ForgetFrom(ctx, 1), keyed.AmendFirst(ctx, task.WithoutClaims))
	default:
		return keyed.ForgetFrom(ctx, 0)
	}
}

func showClaimed(c task.ClaimedTask) types.ClaimedTask {
	shown := types.ClaimedTask{Task: showTask(c.Item, task.Claimed), Token: c.Token}
	shown.Data = c.Data
	for _, p := range c.Parents {
		shown.Parents = append(shown.Parents, showParent(p))
	}
	return shown
}

func showParent(p task.ParentResult) types.ParentResult {
	return types.ParentResult{Task: p.ID, State: string(p.State), Result: []byte(p.Result), LeftOut: p.LeftOut}
}

// errNoToken refuses a call without a token: as a stale one it would tell a worker to stop a task that it has.
var errNoToken = fmt.Errorf("token: %w: want that of the claim", fault.ErrInvalid)

// held returns the client of a session, and the task of a request that names it and its token. The task has no
// other fields; the protocol checks that the session has it with that token.
func (s *server) held(ctx context.Context, q *request, token int64) (task.Client, task.Item, error) {
	if token == 0 {
		return task.Client{}, task.Item{}, errNoToken
	}
	w, err := s.keepAlive(ctx, q)
	if err != nil {
		return task.Client{}, task.Item{}, err
	}
	return task.Client{Repo: q.idempotent(w.repo), Reads: w.repo}, task.Item{Task: models.Task{ID: q.text("task")}, Token: token}, nil
}

// extendTask restarts the timeout of a claimed task and, if the request has progress, notes it. It and the next
// three handlers return fault.ErrStaleToken if the session does not have the task, or has another attempt of it.
func (s *server) extendTask(ctx context.Context, q *request, e types.Extension) (none, error) {
	client, item, err := s.held(ctx, q, e.Token)
	if err != nil {
		return none{}, err
	}
	if e.Progress == nil {
		return none{}, client.Extend(ctx, item)
	}
	return none{}, client.Note(ctx, item, *e.Progress)
}

// resolveTask ends a claimed task, and returns the tasks that it creates in the same transaction.
func (s *server) resolveTask(ctx context.Context, q *request, r types.Resolution) (types.Tasks, error) {
	answer := types.Tasks{Items: []types.Task{}}
	create, err := newTasks(ctx, r.Create)
	if err != nil {
		return answer, err
	}
	client, item, err := s.held(ctx, q, r.Token)
	if err != nil {
		return answer, err
	}
	created, err := client.ResolveWithOutput(ctx, item, r.Result, r.Output, create...)
	for _, c := range created {
		answer.Items = append(answer.Items, showNew(c))
	}
	return answer, err
}

// releaseTask gives a claimed task back after an attempt that failed.
func (s *server) releaseTask(ctx context.Context, q *request, r types.Release) (none, error) {
	client, item, err := s.held(ctx, q, r.Token)
	if err != nil {
		return none{}, err
	}
	failure, err := failureOf(r)
	if err != nil {
		return none{}, err
	}
	return none{}, client.Fail(ctx, item, failure)
}

func (s *server) handBackTask(ctx context.Context, q *request, b types.HandBack) (none, error) {
	client, item, err := s.held(ctx, q, b.Token)
	if err != nil {
		return none{}, err
	}
	delay, err := seconds("delay", b.Delay, maxTTL)
	if err != nil {
		return none{}, err
	}
	return none{}, client.HandBackFor(ctx, item, delay)
}
