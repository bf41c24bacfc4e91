package api

import (
	"context"

	"leasehold/shared/api/types"
	"leasehold/shared/protocol/task"
)

// showAction counts the tasks of an action by state, and reads whether it is paused. An action
// without tasks has counts of 0; it is not an error, because actions are not registered.
func (s *server) showAction(ctx context.Context, action string) (types.Action, error) {
	paused, err := s.tasks.PausedActions(ctx)
	if err != nil {
		return types.Action{}, err
	}
	counts, err := s.tasks.Counts(ctx, action)
	shown := types.Action{Action: action, Tasks: map[string]int64{}}
	for state, n := range counts {
		shown.Tasks[string(state)] = n
	}
	for _, p := range paused {
		if p.Action == action {
			shown.Paused, shown.Since = true, p.Since
		}
	}
	return shown, err
}

func (s *server) getAction(ctx context.Context, q *request) (types.Action, error) {
	return s.showAction(ctx, q.text("action"))
}

func (s *server) pauseAction(ctx context.Context, q *request) (types.Action, error) {
	if err := s.tasksOf(q).Pause(ctx, q.text("action")); err != nil {
		return types.Action{}, err
	}
	return s.showAction(ctx, q.text("action"))
}

func (s *server) resumeAction(ctx context.Context, q *request) (types.Action, error) {
	if err := s.tasksOf(q).Resume(ctx, q.text("action")); err != nil {
		return types.Action{}, err
	}
	return s.showAction(ctx, q.text("action"))
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
