package client

import (
	"context"
	"net/url"
	"time"

	"leasehold/shared/api/types"
)

// Actions lists the actions with their figures, by name.
func (c *Client) Actions(ctx context.Context) ([]types.Action, error) {
	page, err := List[types.Action](ctx, c, "actions", nil, TuplesPage, All)
	return page.Items, err
}

// Leases lists the leases of managers.
func (c *Client) Leases(ctx context.Context) ([]types.Lease, error) {
	page, err := List[types.Lease](ctx, c, "leases", nil, TuplesPage, All)
	return page.Items, err
}

// PauseActionFor is PauseAction with a reason for people.
func (c *Client) PauseActionFor(ctx context.Context, action, reason string) (x types.Action, err error) {
	_, err = c.Do(ctx, Call{Method: "POST", Path: "actions/" + url.PathEscape(action) + "/pause", Body: types.NewPause{Reason: reason}, Answer: &x, Operation: operationOf(ctx)})
	return x, err
}

// CountTasks counts the tasks that a filter selects, which may not be a state of ended ones.
func (c *Client) CountTasks(ctx context.Context, f TaskFilter) (n types.TaskCount, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "bulk/count", Query: f.query(), Answer: &n, Repeat: true})
	return n, err
}

// The verbs of Bulk.
const (
	BulkRequeue = "requeue"
	BulkDiscard = "discard"
	BulkCancel  = "cancel"
)

// Bulk changes all tasks that a filter selects and that were there when they were counted. It calls each, which may be
// nil, with what every request has changed. fault.ErrConflict means that more are selected than were counted. A call
// that failed may be repeated: it changes those that are left.
func (c *Client) Bulk(ctx context.Context, verb string, f TaskFilter, seen types.TaskCount, reason string, each func(types.BulkResult) error) error {
	body := types.BulkCancel{Bulk: types.Bulk{
		Action: f.Action, Tag: f.Tag, Group: f.Group, Text: f.Text, Data: f.Data,
		Older: int64(f.Older / time.Second), Younger: int64(f.Younger / time.Second), Before: seen.At, Count: seen.Count, Reason: reason,
	}}
	if verb == BulkCancel {
		body.State = f.State
	}
	for {
		var part types.BulkResult
		if _, err := c.Do(ctx, Call{Method: "POST", Path: "bulk/" + verb, Body: body, Answer: &part, Repeat: true}); err != nil {
			return err
		}
		if each != nil {
			if err := each(part); err != nil {
				return err
			}
		}
		body.Cursor = part.Next
		if part.Next == "" {
			return nil
		}
	}
}
