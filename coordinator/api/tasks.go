package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/apitypes"
	"leasehold/shared/browse"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

func showTask(t models.Task) apitypes.Task {
	return apitypes.Task{
		ID: t.ID, Action: t.Action, Subject: t.Subject, Parts: t.Parts, Attempts: t.Attempts, Timeout: t.Timeout,
		Claimants: t.Claimants, Note: t.State, History: t.History, CreatedAt: t.CreatedAt, ClaimedAt: t.ClaimedAt,
	}
}

// showItem shows a task that waits or is held. If its body cannot be decoded, the error
// is its note.
func showItem(x browse.Entry) apitypes.Task {
	i, err := task.Decode(x.Tuple)
	shown := showTask(i.Task)
	if err != nil {
		shown.Note = err.Error()
	}
	shown.Lease, shown.Priority, shown.State, shown.Holder = i.Lease, i.Priority, "waiting", x.Holder
	switch {
	case x.Holder != "":
		shown.State = "held"
	case x.Held:
		shown.State = "back-off"
	}
	return shown
}

func (s *server) listTasks(ctx context.Context, q *request) (apitypes.Page[apitypes.Task], error) {
	t := task.Any()
	if action := q.text("action"); action != "" {
		t = task.AnyOf(action)
	}
	found, err := s.browse.Page(ctx, browse.Query{Space: task.Space, Template: t, Held: q.flag("held"), Offset: q.number("offset"), Limit: q.number("limit")})
	return toPage(found.Entries, found.Total, showItem), err
}

func (s *server) getTask(ctx context.Context, q *request) (apitypes.Task, error) {
	id := q.text("task")
	found, err := s.browse.Page(ctx, browse.Query{Space: task.Space, Template: task.WithID(id), Held: true, Limit: 1})
	if err != nil {
		return apitypes.Task{}, err
	}
	if len(found.Entries) == 0 {
		return apitypes.Task{}, fmt.Errorf("task %s: %w: it is done or dead, or never existed", id, fault.ErrNotFound)
	}
	shown := showItem(found.Entries[0])
	if i, err := task.Decode(found.Entries[0].Tuple); err == nil {
		shown.Data = i.Data
	}
	return shown, nil
}

// defaultTimeout is the timeout of a task that is created without one.
const defaultTimeout = 10 * time.Minute

func (s *server) createTask(ctx context.Context, q *request, n apitypes.NewTask) (apitypes.Task, error) {
	timeout := defaultTimeout
	if n.Timeout != nil {
		var err error
		if timeout, err = seconds("timeout_s", *n.Timeout, lease.MaxTTL); err != nil {
			return apitypes.Task{}, err
		}
	}
	created := models.Task{Action: n.Action, Subject: n.Subject, Data: n.Data, Timeout: models.SecondsOf(timeout)}
	i, err := s.tasks.Create(ctx, created, n.Priority)
	q.location = v1 + "/tasks/" + i.ID
	return showNew(i), err
}

func showNew(i task.Item) apitypes.Task {
	shown := showTask(i.Task)
	shown.State, shown.Priority, shown.Data = "waiting", i.Priority, i.Data
	return shown
}

// showDead shows a dead letter; err is the error of decoding it.
func showDead(l task.DeadLetter, err error) apitypes.Task {
	shown := showTask(l.Task)
	shown.State, shown.Note = "dead", l.Reason
	if err != nil {
		shown.History = []string{err.Error()}
	}
	return shown
}

func (s *server) listDead(ctx context.Context, q *request) (apitypes.Page[apitypes.Task], error) {
	t := task.AnyDead()
	if action := q.text("action"); action != "" {
		t = task.MatchDead(action, tuple.AnyString)
	}
	found, err := s.browse.Page(ctx, browse.Query{Space: task.Dead, Template: t, Offset: q.number("offset"), Limit: q.number("limit")})
	return toPage(found.Entries, found.Total, func(x browse.Entry) apitypes.Task { return showDead(task.DecodeDeadLetter(x.Tuple)) }), err
}

func (s *server) getDead(ctx context.Context, q *request) (apitypes.Task, error) {
	l, err := s.tasks.DeadLetter(ctx, q.text("task"))
	if err != nil && !errors.Is(err, fault.ErrCorrupt) {
		return apitypes.Task{}, err
	}
	shown := showDead(l, err)
	shown.Data = l.Data
	return shown, nil
}

// requeue requeues a dead letter. Research is selected again from the catalog, so its
// problems are lifted there; any other task is put again. Problems are lifted twice:
// before, so that after a crash in between the client can repeat the request; and after,
// because the failure may have been ingested in the meantime.
func (s *server) requeue(ctx context.Context, q *request) (answer apitypes.Requeued, err error) {
	l, err := s.tasks.DeadLetter(ctx, q.text("task"))
	if err != nil {
		return answer, err
	}
	episode, clips, selectable := l.SelectedWork()
	lift := func() error { return s.Catalog.Lift(ctx, episode, clips) }
	if selectable {
		if err := lift(); err != nil {
			return answer, err
		}
	}
	put, err := s.tasks.Requeue(ctx, l.ID, !selectable)
	switch {
	case err != nil:
		return answer, err
	case put != nil:
		shown := showNew(*put)
		return apitypes.Requeued{Task: &shown}, nil
	}
	return apitypes.Requeued{Selectable: true}, lift()
}
