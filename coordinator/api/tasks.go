package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"leasehold/models"
	"leasehold/shared/apitypes"
	"leasehold/shared/browse"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

func rowOfTask(t models.Task) apitypes.Task {
	return apitypes.Task{
		ID: t.ID, Action: t.Action, Subject: t.Subject, Parts: t.Parts, Attempts: t.Attempts, Timeout: t.Timeout,
		Claimants: t.Claimants, Note: t.State, History: t.History, CreatedAt: t.CreatedAt, ClaimedAt: t.ClaimedAt,
	}
}

// rowOfItem shows a task where it is. One that cannot be read says so in its note.
func rowOfItem(x browse.Entry) apitypes.Task {
	i, err := task.Decode(x.Tuple)
	row := rowOfTask(i.Task)
	if err != nil {
		row.Note = err.Error()
	}
	row.Lease, row.Priority, row.State, row.Holder = i.Lease, i.Priority, "waiting", x.Holder
	switch {
	case x.Holder != "":
		row.State = "held"
	case x.Held:
		row.State = "back-off"
	}
	return row
}

func (s *server) listTasks(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit", "action", "held")
	action, held, p := q.id("action"), q.flag("held", true), q.part(MaxTuples)
	if q.err != nil {
		return nil, q.err
	}
	t := task.Any()
	if action != "" {
		t = task.AnyOf(action)
	}
	page, err := s.browse.Page(ctx, browse.Query{Space: task.Space, Template: t, Held: held, Offset: p.offset, Limit: p.limit})
	return seen(page, rowOfItem), err
}

func (s *server) getTask(ctx context.Context, r *http.Request) (any, error) {
	id, err := pathID(r, "task")
	if err != nil {
		return nil, err
	}
	t := task.WithID(id)
	page, err := s.browse.Page(ctx, browse.Query{Space: task.Space, Template: t, Held: true, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(page.Entries) == 0 {
		return nil, fmt.Errorf("task %s: %w: it is done, dead, or never was", id, fault.ErrNotFound)
	}
	row := rowOfItem(page.Entries[0])
	if i, err := task.Decode(page.Entries[0].Tuple); err == nil {
		row.Data = i.Data
	}
	return row, nil
}

// defaultTimeout is that of a task whose creator does not say.
const defaultTimeout = 10 * time.Minute

func (s *server) createTask(ctx context.Context, r *http.Request) (any, error) {
	var wanted apitypes.NewTask
	if err := body(r, &wanted); err != nil {
		return nil, err
	}
	timeout := defaultTimeout
	if wanted.Timeout != nil {
		var err error
		if timeout, err = seconds("timeout_s", *wanted.Timeout, lease.MaxTTL); err != nil {
			return nil, err
		}
	}
	i, err := s.tasks.Create(ctx, models.Task{
		Action: wanted.Action, Subject: wanted.Subject, Data: wanted.Data, Timeout: models.SecondsOf(timeout),
	}, wanted.Priority)
	if err != nil {
		return nil, err
	}
	return reply{status: http.StatusCreated, location: "/api/v1/tasks/" + i.ID, body: rowOfNew(i)}, nil
}

func rowOfNew(i task.Item) apitypes.Task {
	row := rowOfTask(i.Task)
	row.State, row.Priority, row.Data = "waiting", i.Priority, i.Data
	return row
}

func rowOfLetter(l task.DeadLetter, err error) apitypes.Task {
	row := rowOfTask(l.Task)
	row.State, row.Note = "dead", l.Reason
	if err != nil {
		row.History = []string{err.Error()}
	}
	return row
}

func (s *server) listDead(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit", "action")
	action, p := q.id("action"), q.part(MaxTuples)
	if q.err != nil {
		return nil, q.err
	}
	t := task.AnyDead()
	if action != "" {
		t = task.MatchDead(action, tuple.AnyString)
	}
	page, err := s.browse.Page(ctx, browse.Query{Space: task.Dead, Template: t, Offset: p.offset, Limit: p.limit})
	return seen(page, func(x browse.Entry) apitypes.Task { return rowOfLetter(task.DecodeDeadLetter(x.Tuple)) }), err
}

func (s *server) getDead(ctx context.Context, r *http.Request) (any, error) {
	l, err := s.letter(ctx, r)
	if err != nil && !errors.Is(err, fault.ErrCorrupt) {
		return nil, err
	}
	row := rowOfLetter(l, err)
	row.Data = l.Data
	return row, nil
}

func (s *server) letter(ctx context.Context, r *http.Request) (task.DeadLetter, error) {
	id, err := pathID(r, "task")
	if err != nil {
		return task.DeadLetter{}, err
	}
	return s.tasks.DeadLetter(ctx, id)
}

// requeue has the work of a dead letter done again. Research is selected from the
// catalog, so its problems are lifted there; any other task is put again. They are
// lifted before and after: before, so that a crash in between can be mended by
// asking again; after, because the failure may have been ingested meanwhile.
func (s *server) requeue(ctx context.Context, r *http.Request) (any, error) {
	l, err := s.letter(ctx, r)
	if err != nil {
		return nil, err
	}
	var research models.Research
	selectable := l.Action == models.ActionResearch && json.Unmarshal(l.Data, &research) == nil && research.Episode.ID != ""
	lift := func() error {
		var clips []string
		for _, c := range research.Clips {
			clips = append(clips, c.ID)
		}
		return s.Catalog.Lift(ctx, research.Episode.ID, clips)
	}
	if selectable {
		if err := lift(); err != nil {
			return nil, err
		}
	}
	put, err := s.tasks.Requeue(ctx, l.ID, !selectable)
	switch {
	case err != nil:
		return nil, err
	case put != nil:
		row := rowOfNew(*put)
		return apitypes.Requeued{Task: &row}, nil
	}
	return apitypes.Requeued{Selectable: true}, lift()
}
