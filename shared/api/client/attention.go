package client

import (
	"context"
	"errors"
	"net/url"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

// Attention returns what a person should look at, the worst first; an older coordinator has nothing.
func (c *Client) Attention(ctx context.Context) (r models.AttentionReport, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "attention", Answer: &r, Repeat: true, Timeout: statusTimeout})
	if errors.Is(err, fault.ErrNotFound) {
		return models.AttentionReport{}, nil
	}
	return r, err
}

// DismissAttention hides an item until its cause ends, its count grows, or a day is over.
func (c *Client) DismissAttention(ctx context.Context, id string) error {
	_, err := c.Do(ctx, Call{Method: "POST", Path: "attention/" + url.PathEscape(id) + "/dismiss"})
	return err
}

// History returns the counts of tasks by interval. An empty action means all actions; span is hour, day or two-weeks.
func (c *Client) History(ctx context.Context, action, span string) (h types.History, err error) {
	q := url.Values{"span": {span}}
	if action != "" {
		q.Set("action", action)
	}
	_, err = c.Do(ctx, Call{Method: "GET", Path: "history", Query: q, Answer: &h, Repeat: true})
	return h, err
}
