package api

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/tracing"
	"leasehold/shared/process/wording"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/tuple"
)

// showTask shows a task without its data.
func showTask(item task.Item, state task.State) types.Task {
	shown := types.Task{
		ID: item.ID, Action: item.Action, State: string(state), Subject: item.Subject, Parts: item.Parts, Lease: item.Lease, Priority: item.Priority,
		Timeout: item.Timeout, Attempts: item.Attempts, Lost: item.Lost, Claimants: append([]string{}, item.Claimants...), CreatedAt: item.CreatedAt,
		Progress: item.Progress, Note: item.State, History: item.History, Trace: item.Trace,
		TaskOptions: types.TaskOptions{
			NotBefore: item.NotBefore, ExpiresAt: item.ExpiresAt, MaxAttempts: item.MaxAttempts, Backoff: item.Backoff, UniqueKey: item.UniqueKey, Group: item.Group,
			Tags: item.Tags, ResultTuple: item.ResultTuple, ResultTTL: item.ResultTTL, After: item.After, OnFailure: item.OnFailure, Limits: item.Limits, OnLimit: item.OnLimit,
		},
	}
	if item.CurrentClaimant != "" {
		shown.CurrentClaimant = &item.CurrentClaimant
	}
	if !item.ClaimedAt.IsZero() {
		shown.ClaimedAt = &item.ClaimedAt
	}
	return shown
}

// showListed shows a task of a list, without its data. If it cannot be decoded, the error is its
// note. A dead letter that died with its last attempt has the worker and the duration of that.
func showListed(l task.Listed) types.Task {
	shown := showTask(l.Item, l.StateNow())
	shown.Session = l.Holder
	if l.Dead {
		shown.Note = l.Reason
	}
	if l.Err != nil {
		shown.Note = l.Err.Error()
	}
	if l.Why.Code != "" {
		shown.Why = &types.Why{Code: l.Why.Code, Text: l.Why.Text}
	}
	switch {
	case l.End != nil:
		showEnd(&shown, l.End)
	case l.Dead:
		showDeath(&shown, l.DiedAt)
	}
	return shown
}

// showDeath shows when a task became a dead letter. An expiry, or the end of a parent, may come
// later than the last attempt, and then no worker had the task.
func showDeath(shown *types.Task, died time.Time) {
	shown.EndedAt = died
	n := len(shown.History)
	if n == 0 || shown.History[n-1].EndedAt.Before(died) {
		return
	}
	last := shown.History[n-1]
	taken := models.SecondsOf(last.EndedAt.Sub(last.ClaimedAt))
	shown.EndedAt, shown.Worker, shown.Duration = last.EndedAt, last.Worker, &taken
}

// showEnd shows how a task ended. shown is the task as it was while alive; if a worker had it then, the duration
// covers its last attempt only.
func showEnd(shown *types.Task, end *task.End) {
	shown.EndedAt, shown.Note, shown.Result = end.At, end.Note, json.RawMessage(end.Result)
	if len(shown.Result) > 0 && !json.Valid(shown.Result) { // a foreign client may have put any text
		shown.Result, _ = json.Marshal(end.Result) // a string has no error
	}
	if shown.CurrentClaimant == nil {
		return
	}
	shown.CurrentClaimant, shown.Worker = nil, end.Worker
	if shown.ClaimedAt != nil {
		taken := models.SecondsOf(end.At.Sub(*shown.ClaimedAt))
		shown.Duration = &taken
	}
}

// byTask are the parameters of lists of tasks.
var byTask = slices.Concat(bySelection, []param{{name: "cursor", schema: "pattern: '" + cursorPattern + "'", doc: "the next of an earlier page"}, limit(100, task.MaxListed)})

// maxAgeSeconds bounds the ages by which tasks are selected.
const maxAgeSeconds = math.MaxInt32

// bySelection are the parameters that select tasks.
var bySelection = []param{
	byAction,
	{name: "tag", doc: "only tasks with this tag"},
	{name: "group", doc: "only tasks of this group"},
	{name: "text", doc: "only tasks whose last error contains this text"},
	{name: "older", kind: numberParam, max: maxAgeSeconds, doc: "only tasks created at least so many seconds ago"},
	{name: "younger", kind: numberParam, max: maxAgeSeconds, doc: "only tasks created at most so many seconds ago"},
	{name: "data", doc: "only tasks whose data contain this text, in the same case; only for those who may see data"},
	{name: "before", kind: timeParam, doc: "only tasks created before this time (RFC 3339), or dead letters that died before"},
}

// byState selects a state of tasks.
var byState = param{name: "state", schema: "enum: ['', waiting, delayed, blocked, paused, claimed, dead, resolved, cancelled, ended]", doc: "waiting, delayed, blocked, paused, claimed, dead, resolved, cancelled, or ended for those that are no longer in a space; those that are alive if absent"}

// byLiveState selects a state of tasks that have not ended.
var byLiveState = param{name: "state", schema: "enum: ['', waiting, delayed, blocked, paused, claimed, dead]", doc: "waiting, delayed, blocked, paused, claimed or dead; those that are alive if absent"}

// listedStates are the states by which tasks can be listed; the empty one selects those that
// are alive.
var listedStates = []task.State{
	"", task.Waiting, task.StateDelayed, task.StateBlocked, task.StatePaused, task.Claimed, task.StateDead, task.Resolved, task.Cancelled, task.AnyEnd,
}

// tasksBy reads a page of tasks in a state; the empty one selects those that are alive. The page has the cursor
// of the next one, which is empty after the last. It may have fewer tasks than the limit, even none, before the
// last.
func (s *server) tasksBy(ctx context.Context, q *request, state task.State) (types.Tasks, error) {
	page := types.Tasks{Items: []types.Task{}}
	f, err := filterOf(ctx, q, state)
	if err != nil {
		return page, err
	}
	cursor, err := decodeCursor(q.text("cursor"))
	if err != nil {
		return page, err
	}
	for left := q.number("limit"); left > 0; {
		var all []task.Listed
		if all, cursor, err = s.tasks.List(ctx, f, cursor, left); err != nil {
			return page, err
		}
		for _, l := range all {
			page.Items = append(page.Items, withoutData(ctx, showListed(l)))
		}
		// An empty part of a long list is shown as an empty page, so that a filter that
		// selects little keeps no request busy for long.
		left -= len(all)
		if len(cursor) == 0 || len(all) == 0 {
			break
		}
	}
	page.Next = encodeCursor(cursor)
	return page, nil
}

// cursorPattern is how encodeCursor writes.
const cursorPattern = "^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-]{2,3})?$"

// encodeCursor returns a cursor as text for a URL; the empty one is "".
func encodeCursor(c task.Cursor) string {
	if len(c) == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(tuple.Tuple(c).Append(nil))
}

// decodeCursor reads a cursor that encodeCursor wrote; empty text is the beginning. It fails with fault.ErrInvalid if the
// text breaks cursorPattern, and with fault.ErrNotFound if it names no place in a list.
func decodeCursor(text string) (task.Cursor, error) {
	if text == "" {
		return nil, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("cursor %.64q: %w: want the next of an earlier page", text, fault.ErrInvalid)
	}
	if t, rest, err := tuple.Decode(data); err == nil && len(rest) == 0 {
		return task.Cursor(t), nil
	}
	return nil, fmt.Errorf("cursor %.64q: %w: no page begins there; want the next of an earlier page", text, fault.ErrNotFound)
}

func (s *server) listTasks(ctx context.Context, q *request) (types.Tasks, error) {
	state := task.State(q.text("state"))
	if !slices.Contains(listedStates, state) {
		return types.Tasks{}, fmt.Errorf("state %.50q: %w: want %s", string(state), fault.ErrInvalid, wording.Or(listedStates[1:]...))
	}
	return s.tasksBy(ctx, q, state)
}

func (s *server) listDead(ctx context.Context, q *request) (types.Tasks, error) {
	return s.tasksBy(ctx, q, task.StateDead)
}

func (s *server) getTask(ctx context.Context, q *request) (types.Task, error) {
	l, err := s.showOrWait(ctx, q.text("task"), time.Duration(q.number("wait"))*time.Second)
	if err != nil {
		return types.Task{}, err
	}
	shown := showListed(l.Listed)
	shown.Data = l.Data
	return withoutData(ctx, shown), nil
}

// getParents shows how the parents of a task ended, as many as one answer carries.
func (s *server) getParents(ctx context.Context, q *request) (types.ParentResults, error) {
	answer := types.ParentResults{Items: []types.ParentResult{}}
	found, next, err := s.tasks.ParentsFrom(ctx, q.text("task"), q.number("offset"))
	for _, p := range found {
		answer.Items = append(answer.Items, showParent(p))
	}
	answer.Next = next
	return answer, err
}

// showOrWait returns a task once it has ended, or as it is when wait is over; 0 does not wait.
func (s *server) showOrWait(ctx context.Context, id string, wait time.Duration) (task.Shown, error) {
	if wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		shown, err := s.tasks.Wait(waiting, id)
		if waitIsOver := err != nil && waiting.Err() != nil && ctx.Err() == nil; !waitIsOver {
			return shown, err // of the task, or of the request, which has ended
		}
	}
	return s.tasks.Show(ctx, id)
}

// defaultResultTTL is how long the tuple with a result stays if nothing is said.
const defaultResultTTL = 3600

// newTask converts the body that creates a task. Without a timeout the task has the default one. Its attempts belong to
// the trace of the request. Options about parents, limits and a result that a task does not have may be
// there: a program may fill these lists, or leave them empty.
func newTask(ctx context.Context, n types.NewTask) (task.New, error) {
	timeout := task.DefaultTimeout
	if n.Timeout != nil {
		if _, err := seconds("timeout", *n.Timeout, lease.MaxTTL); err != nil {
			return task.New{}, err
		}
		timeout = *n.Timeout
	}
	o, onConflict := n.TaskOptions, n.OnConflict
	if err := cmp.Or(
		checkChoice("on_failure", o.OnFailure, models.FailWithParent, models.RunAnyway),
		checkChoice("on_limit", o.OnLimit, limitChoices...),
		checkChoice("on_conflict", onConflict, task.KeepFirst, task.Replace),
	); err != nil {
		return task.New{}, err
	}
	if len(o.After) == 0 {
		o.OnFailure = "" // of no parent
	}
	if len(o.Limits) == 0 {
		o.OnLimit = "" // of no limit
	}
	if n.UniqueKey == "" {
		onConflict = ""
	}
	if !o.ResultTuple {
		o.ResultTTL = 0
	} else if o.ResultTTL == 0 {
		o.ResultTTL = defaultResultTTL
	}
	return task.New{
		Priority: n.Priority, Ref: n.Ref, OnConflict: onConflict,
		Task: models.Task{Action: n.Action, Subject: n.Subject, Data: n.Data, Timeout: timeout, TaskOptions: models.TaskOptions{
			NotBefore: o.NotBefore, ExpiresAt: o.ExpiresAt, MaxAttempts: o.MaxAttempts, Backoff: o.Backoff, UniqueKey: o.UniqueKey, Group: o.Group,
			Tags: o.Tags, ResultTuple: o.ResultTuple, ResultTTL: o.ResultTTL, After: o.After, OnFailure: o.OnFailure, Limits: o.Limits, OnLimit: o.OnLimit,
			Trace: tracing.Parent(ctx),
		}},
	}, nil
}

// limitChoices are the values of on_limit.
var limitChoices = []string{models.WaitForLimit, models.CancelRunning, models.Drop}

// checkChoice refuses a value that is neither empty nor one of choices.
func checkChoice(field, value string, choices ...string) error {
	if value == "" || slices.Contains(choices, value) {
		return nil
	}
	return fmt.Errorf("%s %.50q: %w: want %s", field, value, fault.ErrInvalid, wording.Or(choices...))
}

func newTasks(ctx context.Context, all []types.NewTask) (wanted []task.New, err error) {
	for at, one := range all {
		w, err := newTask(ctx, one)
		if err != nil {
			return nil, fmt.Errorf("task %d of %d: %w", at+1, len(all), err)
		}
		wanted = append(wanted, w)
	}
	return wanted, nil
}

// tasksOf returns the client for a request that may have an idempotency key.
func (s *server) tasksOf(q *request) task.Client {
	return task.Client{Repo: q.idempotent(s.repo), Reads: s.repo}
}

// createTask creates a task. If its unique key is taken, the answer is the task that has it.
func (s *server) createTask(ctx context.Context, q *request, n types.NewTask) (types.Task, error) {
	wanted, err := newTask(ctx, n)
	if err != nil {
		return types.Task{}, err
	}
	made, err := s.tasksOf(q).CreateAll(ctx, wanted)
	if err != nil {
		return types.Task{}, err
	}
	q.location = v1 + "/tasks/" + made[0].ID
	return showNew(made[0]), nil
}

// createTasks creates several tasks, all or none.
func (s *server) createTasks(ctx context.Context, q *request, n types.NewTasks) (types.Tasks, error) {
	answer := types.Tasks{Items: []types.Task{}}
	wanted, err := newTasks(ctx, n.Tasks)
	if err != nil {
		return answer, err
	}
	made, err := s.tasksOf(q).CreateAll(ctx, wanted...)
	for _, i := range made {
		answer.Items = append(answer.Items, showNew(i))
	}
	return answer, err
}

func showNew(i task.Item) types.Task {
	shown := showTask(i, i.StateNow())
	shown.Data, shown.Existing = i.Data, i.Existing
	return shown
}

func (s *server) cancelTask(ctx context.Context, q *request, c types.Cancel) (none, error) {
	return none{}, s.withState(ctx, q.text("task"), s.tasksOf(q).Cancel(ctx, q.text("task"), c.Reason))
}

// withState adds the state of a task to a fault.ErrNotFound, which means that the request needs it in another state.
func (s *server) withState(ctx context.Context, id string, err error) error {
	if !errors.Is(err, fault.ErrNotFound) {
		return err
	}
	l, unknown := s.tasks.Show(ctx, id)
	if unknown != nil {
		return err
	}
	return fmt.Errorf("task %s is %s: %w", id, l.StateNow(), err)
}

// getDead shows a dead letter; a malformed one has the error as its note.
func (s *server) getDead(ctx context.Context, q *request) (types.Task, error) {
	l, err := s.tasks.DeadLetter(ctx, q.text("task"))
	if err != nil && !errors.Is(err, fault.ErrCorrupt) {
		return types.Task{}, err
	}
	shown := showListed(task.Listed{Item: l.Item, Dead: true, Reason: l.Reason, Err: err})
	shown.Data = l.Data
	return withoutData(ctx, shown), nil
}

// withoutData returns a task without its data, its result and what its attempts have printed, which may contain these, if
// the request's identity may not see them.
func withoutData(ctx context.Context, t types.Task) types.Task {
	if !seesTasks(ctx) {
		t.Data, t.Result, t.History = nil, nil, slices.Clone(t.History)
		for i := range t.History {
			t.History[i].Output = ""
		}
	}
	return t
}

func (s *server) discardDead(ctx context.Context, q *request) (none, error) {
	return none{}, s.withState(ctx, q.text("task"), s.tasksOf(q).Discard(ctx, q.text("task")))
}

// requeue requeues a dead letter. Research is selected again from the catalog, so its problems are lifted there,
// and the answer has no task; any other task is put again and returned. Problems are lifted twice: before, so
// that after a crash in between the client can repeat the request; and after, because the failure may have been
// ingested in the meantime.
func (s *server) requeue(ctx context.Context, q *request) (types.Requeued, error) {
	return s.requeueOne(ctx, s.tasksOf(q), q.text("task"))
}

// requeueOne is requeue for a dead letter, with the client of its request.
func (s *server) requeueOne(ctx context.Context, tasks task.Client, id string) (answer types.Requeued, err error) {
	l, err := tasks.DeadLetter(ctx, id)
	if err != nil {
		return answer, s.withState(ctx, id, err)
	}
	selected := l.SelectedWork()
	selectable := len(selected) > 0
	lift := func() error {
		for _, w := range selected {
			if err := s.Catalog.Lift(ctx, w.Subject, w.Parts); err != nil {
				return err
			}
		}
		return nil
	}
	if selectable {
		if err := lift(); err != nil {
			return answer, err
		}
	}
	putAgain := !selectable
	put, err := tasks.Requeue(ctx, l.ID, putAgain) // nil if it is not put again
	switch {
	case err != nil:
		return answer, err
	case put != nil:
		shown := showNew(*put)
		return types.Requeued{Task: &shown}, nil
	}
	return types.Requeued{Selectable: true}, lift()
}
