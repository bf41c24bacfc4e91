package client

import (
	"context"
	"net/http"
	"net/url"

	"leasehold/shared/api/types"
)

// TaskSchedules lists the schedules of tasks, without the data of their tasks.
func (c *Client) TaskSchedules(ctx context.Context) ([]types.TaskSchedule, error) {
	page, err := List[types.TaskSchedule](ctx, c, "schedules", nil, TuplesPage, All)
	return page.Items, err
}

// TaskSchedule returns a schedule of tasks.
func (c *Client) TaskSchedule(ctx context.Context, name string) (s types.TaskSchedule, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "schedules/" + url.PathEscape(name), Answer: &s, Repeat: true})
	return s, err
}

// SetTaskSchedule adds a schedule of tasks, or replaces the one of that name.
func (c *Client) SetTaskSchedule(ctx context.Context, name string, n types.NewTaskSchedule) (s types.TaskSchedule, added bool, err error) {
	status, err := c.Do(ctx, Call{Method: "PUT", Path: "schedules/" + url.PathEscape(name), Body: n, Answer: &s, Repeat: true})
	return s, status == http.StatusCreated, err
}

// RemoveTaskSchedule removes a schedule of tasks.
func (c *Client) RemoveTaskSchedule(ctx context.Context, name string) error {
	_, err := c.Do(ctx, Call{Method: "DELETE", Path: "schedules/" + url.PathEscape(name)})
	return err
}

// PauseTaskSchedule has a schedule create no tasks.
func (c *Client) PauseTaskSchedule(ctx context.Context, name string) (s types.TaskSchedule, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "schedules/" + url.PathEscape(name) + "/pause", Answer: &s, Repeat: true})
	return s, err
}

// ResumeTaskSchedule ends the pause of a schedule.
func (c *Client) ResumeTaskSchedule(ctx context.Context, name string) (s types.TaskSchedule, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "schedules/" + url.PathEscape(name) + "/resume", Answer: &s, Repeat: true})
	return s, err
}
