package api

import (
	"context"
	"net/http"

	"leasehold/shared/api/types"
	"leasehold/shared/protocol/schedule"
)

func showSchedule(s schedule.State) types.TaskSchedule {
	return types.TaskSchedule{Name: s.Name, Schedule: s.Schedule, Paused: s.Paused(), Next: s.Next, Last: s.Last, LastTask: s.LastTask, Note: s.Note}
}

func (s *server) schedules() schedule.Client { return schedule.Client{Repo: s.repo} }

// shownSchedule is the answer of a call that returned a schedule.
func shownSchedule(state schedule.State, err error) (types.TaskSchedule, error) {
	if err != nil {
		return types.TaskSchedule{}, err
	}
	return showSchedule(state), nil
}

// listSchedules lists the schedules without the data of their tasks, which may be large.
func (s *server) listSchedules(ctx context.Context, q *request) (types.Page[types.TaskSchedule], error) {
	all, err := s.schedules().List(ctx)
	for n := range all {
		all[n].Task.Data = nil
	}
	some := cut(q, all)
	return toPage(some.Items, some.Total, showSchedule), err
}

func (s *server) taskSchedule(ctx context.Context, q *request) (types.TaskSchedule, error) {
	shown, err := shownSchedule(s.schedules().Get(ctx, q.text("schedule")))
	if !seesTasks(ctx) {
		shown.Task.Data = nil
	}
	return shown, err
}

// setSchedule adds a schedule (201) or replaces it (200).
func (s *server) setSchedule(ctx context.Context, q *request, n types.NewTaskSchedule) (types.TaskSchedule, error) {
	if err := checkChoice("on_limit", n.Task.OnLimit, limitChoices...); err != nil {
		return types.TaskSchedule{}, err
	}
	if len(n.Task.Limits) == 0 {
		n.Task.OnLimit = "" // of no limit
	}
	state, created, err := s.schedules().Set(ctx, q.text("schedule"), n.Schedule)
	if !created {
		q.status = http.StatusOK
	}
	q.location = v1 + "/schedules/" + q.text("schedule")
	return shownSchedule(state, err)
}

func (s *server) removeSchedule(ctx context.Context, q *request) (none, error) {
	return none{}, s.schedules().Remove(ctx, q.text("schedule"))
}

func (s *server) pauseSchedule(ctx context.Context, q *request) (types.TaskSchedule, error) {
	return shownSchedule(s.schedules().Pause(ctx, q.text("schedule")))
}

func (s *server) resumeSchedule(ctx context.Context, q *request) (types.TaskSchedule, error) {
	return shownSchedule(s.schedules().Resume(ctx, q.text("schedule")))
}
