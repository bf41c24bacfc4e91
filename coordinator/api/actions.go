package api

import (
	"context"
	"time"

	"leasehold/coordinator/actions"
	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space/browse"
)

// shownAction shows the figures of an action.
func shownAction(a actions.Action, target time.Duration) types.Action {
	shown := types.Action{
		Action: a.Action, Paused: a.IsPaused(), Since: a.Pause.Since, PausedBy: a.Pause.By, Why: a.Pause.Why, Tasks: map[string]int64{},
		Workers: a.Workers, Slots: a.Slots, SlotsInUse: a.InUse, OldestTask: a.Oldest,
		Wanted:           a.Wanted(time.Now(), target),
		CreatedPerMinute: a.Created, EndedPerMinute: a.Ended, FailedPerMinute: a.Failed,
	}
	for state, n := range a.Counts {
		shown.Tasks[string(state)] = n
	}
	if !a.OldestSince.IsZero() {
		age := models.SecondsOf(max(time.Since(a.OldestSince), 0))
		shown.OldestClaimable = &age
	}
	if a.Number > 0 {
		median, p95 := models.SecondsOf(a.Median), models.SecondsOf(a.P95)
		shown.Median, shown.P95, shown.Runs = &median, &p95, int64(a.Number)
	}
	return shown
}

func (s *server) listActions(ctx context.Context, q *request) (types.Page[types.Action], error) {
	snap, err := s.Actions.Read(ctx)
	if err != nil {
		return types.Page[types.Action]{}, err
	}
	some := cut(q, snap.Actions)
	return toPage(some.Items, snap.Total, func(a actions.Action) types.Action { return shownAction(a, actions.DefaultTargetWait) }), nil
}

func (s *server) getAction(ctx context.Context, q *request) (types.Action, error) {
	return s.actionFor(ctx, q, time.Duration(q.number("target_wait"))*time.Second)
}

// actionFor returns the action of a request. Its wanted slots are for a wait of target.
func (s *server) actionFor(ctx context.Context, q *request, target time.Duration) (types.Action, error) {
	a, err := s.Actions.ReadOne(ctx, q.text("action"))
	return shownAction(a, target), err
}

// pauseAction notes the identity of the request; without authentication there is none.
func (s *server) pauseAction(ctx context.Context, q *request, n types.NewPause) (types.Action, error) {
	by := ""
	if i := access.Of(ctx); i.ID != "" {
		by = i.String()
	}
	if err := s.tasksOf(q).PauseFor(ctx, q.text("action"), by, n.Reason); err != nil {
		return types.Action{}, err
	}
	return s.actionFor(ctx, q, actions.DefaultTargetWait)
}

func (s *server) resumeAction(ctx context.Context, q *request) (types.Action, error) {
	if err := s.tasksOf(q).Resume(ctx, q.text("action")); err != nil {
		return types.Action{}, err
	}
	return s.actionFor(ctx, q, actions.DefaultTargetWait)
}

func (s *server) listLeases(ctx context.Context, q *request) (types.Page[types.Lease], error) {
	found, err := s.browse.Page(ctx, browse.Query{Space: lease.Space, Template: lease.Any(), Offset: q.number("offset"), Limit: q.number("limit")})
	return toPage(found.Entries, found.Total, func(x browse.Entry) types.Lease {
		l := lease.Decode(x.Tuple)
		return types.Lease{ID: l.ID, Holder: l.Holder, Subject: l.Subject, Parts: l.Parts, Deadline: l.Deadline, Token: l.Token}
	}), err
}

func (s *server) listLimits(ctx context.Context, q *request) (types.Page[types.Limit], error) {
	all, err := s.tasks.Limits(ctx)
	some := cut(q, all)
	return toPage(some.Items, some.Total, func(l task.LimitState) types.Limit {
		return types.Limit{Name: l.Name, Max: l.Max, Rate: l.Rate, Running: l.Running, Waiting: l.Waiting}
	}), err
}

func (s *server) setLimit(ctx context.Context, q *request, n types.NewLimit) (none, error) {
	return none{}, s.tasksOf(q).SetLimit(ctx, task.Limit{Name: q.text("limit"), Max: n.Max, Rate: n.Rate})
}

func (s *server) removeLimit(ctx context.Context, q *request) (none, error) {
	return none{}, s.tasksOf(q).RemoveLimit(ctx, q.text("limit"))
}
