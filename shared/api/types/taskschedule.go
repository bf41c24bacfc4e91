package types

import (
	"time"

	"leasehold/models"
)

// NewTaskSchedule is the body that adds or replaces a schedule of tasks.
type NewTaskSchedule struct{ models.Schedule }

// TaskSchedule is a schedule of tasks, and what became of its runs.
type TaskSchedule struct {
	Name string `json:"name"`
	models.Schedule
	Paused   bool      `json:"paused"`
	Next     time.Time `json:"next,omitzero" doc:"when its next task is created; absent while it is paused"`
	Last     time.Time `json:"last,omitzero" doc:"the last due time that has passed"`
	LastTask string    `json:"last_task,omitempty" doc:"id of the last task that it created"`
	Note     string    `json:"note,omitempty" doc:"why the last run was left out; absent: it was not"`
}
