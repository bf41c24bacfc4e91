package client

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"leasehold/shared/api/types"
)

// TaskFilter selects tasks of a list; an empty field selects all.
type TaskFilter struct {
	State   string // empty: those that are alive
	Action  string
	Tag     string
	Group   string
	Text    string        // in the last error
	Data    string        // in the data, in the same case
	Older   time.Duration // in whole seconds
	Younger time.Duration
}

// query returns the parameters of the fields that are set.
func (f TaskFilter) query() url.Values {
	q := url.Values{}
	for name, v := range map[string]string{"state": f.State, "action": f.Action, "tag": f.Tag, "group": f.Group, "text": f.Text, "data": f.Data} {
		if v != "" {
			q.Set(name, v)
		}
	}
	for name, d := range map[string]time.Duration{"older": f.Older, "younger": f.Younger} {
		if d > 0 {
			q.Set(name, strconv.Itoa(int(d.Seconds())))
		}
	}
	return q
}

// Tasks lists at most most of the tasks that are alive and that a filter selects; a negative
// most lists all. more reports whether there may be others.
func (c *Client) Tasks(ctx context.Context, f TaskFilter, most int) (all []types.Task, more bool, err error) {
	return c.listTasks(ctx, "tasks", f, most)
}

// Dead lists dead letters as Tasks lists tasks; it ignores the state.
func (c *Client) Dead(ctx context.Context, f TaskFilter, most int) (all []types.Task, more bool, err error) {
	f.State = ""
	return c.listTasks(ctx, "dead", f, most)
}

// listTasks lists at most most tasks of a path, page by page; a negative most lists all.
// more is true if it stopped at most although the path has a further page.
func (c *Client) listTasks(ctx context.Context, path string, f TaskFilter, most int) (all []types.Task, more bool, err error) {
	q := f.query()
	for most < 0 || len(all) < most {
		want := TuplesPage
		if most >= 0 {
			want = min(want, most-len(all))
		}
		q.Set("limit", strconv.Itoa(want))
		var page types.Tasks
		if _, err := c.Do(ctx, Call{Method: "GET", Path: path, Query: q, Answer: &page, Repeat: true}); err != nil {
			return nil, false, err
		}
		all = append(all, page.Items...)
		if page.Next == "" {
			return all, false, nil
		}
		q.Set("cursor", page.Next)
	}
	return all, true, nil
}

// Task returns a live task, a dead letter, or an ended task as long as its end is kept, with its data and its
// result.
func (c *Client) Task(ctx context.Context, id string) (t types.Task, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "tasks/" + url.PathEscape(id), Answer: &t, Repeat: true})
	return t, err
}

// waitPart is the part of a wait that one request waits, in seconds.
const waitPart = 20

// maxOutage is how long a wait goes on without a coordinator that it has reached before, so that a
// restart does not end it.
const maxOutage = time.Minute

// WaitTask waits until a task is resolved, dead or cancelled, and returns it. It waits until ctx ends, also while the
// coordinator restarts for up to maxOutage. It fails with fault.ErrNotFound for an unknown task.
func (c *Client) WaitTask(ctx context.Context, id string) (t types.Task, err error) {
	if t, err = c.Task(ctx, id); err != nil || t.HasEnded() {
		return t, err
	}
	q := url.Values{"wait": {strconv.Itoa(waitPart)}}
	for reached := time.Now(); ; {
		t = types.Task{}
		_, err = c.Do(ctx, Call{Method: "GET", Path: "tasks/" + url.PathEscape(id), Query: q, Answer: &t, Repeat: true})
		switch {
		case err == nil && t.HasEnded():
			return t, nil
		case err == nil:
			reached = time.Now()
		case ctx.Err() != nil || !transient(err) || time.Since(reached) >= maxOutage+waitPart*time.Second:
			return t, err
		}
	}
}

// DeadLetter returns a dead letter with its data.
func (c *Client) DeadLetter(ctx context.Context, id string) (t types.Task, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "dead/" + url.PathEscape(id), Answer: &t, Repeat: true})
	return t, err
}

// CreateTask puts a task.
func (c *Client) CreateTask(ctx context.Context, n types.NewTask) (t types.Task, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "tasks", Body: n, Answer: &t, Operation: operationOf(ctx)})
	return t, err
}

// CreateTasks puts several tasks, all or none.
func (c *Client) CreateTasks(ctx context.Context, n types.NewTasks) ([]types.Task, error) {
	var made types.Tasks
	_, err := c.Do(ctx, Call{Method: "POST", Path: "task-batches", Body: n, Answer: &made, Operation: operationOf(ctx)})
	return made.Items, err
}

// CancelTask ends a live task.
func (c *Client) CancelTask(ctx context.Context, id, reason string) error {
	_, err := c.Do(ctx, Call{Method: "POST", Path: "tasks/" + url.PathEscape(id) + "/cancel", Body: types.Cancel{Reason: reason}, Operation: operationOf(ctx)})
	return err
}

// Requeue makes the work of a dead letter available again.
func (c *Client) Requeue(ctx context.Context, id string) (r types.Requeued, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "dead/" + url.PathEscape(id) + "/requeue", Answer: &r, Operation: operationOf(ctx)})
	return r, err
}

// Discard takes a dead letter for good.
func (c *Client) Discard(ctx context.Context, id string) error {
	_, err := c.Do(ctx, Call{Method: "DELETE", Path: "dead/" + url.PathEscape(id), Operation: operationOf(ctx)})
	return err
}

// Action returns the numbers of the tasks of an action, and whether it is paused.
func (c *Client) Action(ctx context.Context, action string) (x types.Action, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "actions/" + url.PathEscape(action), Answer: &x, Repeat: true})
	return x, err
}

// ActionFor is Action with the slots that the action wants so that a task waits for at most target, in whole seconds.
func (c *Client) ActionFor(ctx context.Context, action string, target time.Duration) (x types.Action, err error) {
	q := url.Values{"target_wait": {strconv.Itoa(int(target.Seconds()))}}
	_, err = c.Do(ctx, Call{Method: "GET", Path: "actions/" + url.PathEscape(action), Query: q, Answer: &x, Repeat: true})
	return x, err
}

// PauseAction has no more tasks of an action claimed.
func (c *Client) PauseAction(ctx context.Context, action string) (x types.Action, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "actions/" + url.PathEscape(action) + "/pause", Answer: &x, Operation: operationOf(ctx)})
	return x, err
}

// ResumeAction ends the pause of an action.
func (c *Client) ResumeAction(ctx context.Context, action string) (x types.Action, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "actions/" + url.PathEscape(action) + "/resume", Answer: &x, Operation: operationOf(ctx)})
	return x, err
}

// Limits lists the limits.
func (c *Client) Limits(ctx context.Context) ([]types.Limit, error) {
	page, err := List[types.Limit](ctx, c, "limits", nil, TuplesPage, All)
	return page.Items, err
}

// SetLimit sets a limit.
func (c *Client) SetLimit(ctx context.Context, name string, n types.NewLimit) error {
	_, err := c.Do(ctx, Call{Method: "PUT", Path: "limits/" + url.PathEscape(name), Body: n, Operation: operationOf(ctx)})
	return err
}

// RemoveLimit removes a limit.
func (c *Client) RemoveLimit(ctx context.Context, name string) error {
	_, err := c.Do(ctx, Call{Method: "DELETE", Path: "limits/" + url.PathEscape(name), Operation: operationOf(ctx)})
	return err
}
