package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"leasehold/shared/api/types"
)

// Sessions lists the sessions of all clients, by id.
func (c *Client) Sessions(ctx context.Context) ([]types.OpenSession, error) {
	page, err := List[types.OpenSession](ctx, c, "sessions", nil, PageSize, All)
	return append([]types.OpenSession{}, page.Items...), err
}

// EndSession ends a session; what it holds is handed back.
func (c *Client) EndSession(ctx context.Context, session string) error {
	_, err := c.Do(ctx, Call{Method: "DELETE", Path: "sessions/" + url.PathEscape(session)})
	return err
}

// CreateSpace creates a space. isNew is false if it existed with equal options.
func (c *Client) CreateSpace(ctx context.Context, n types.NewSpace) (s types.Space, isNew bool, err error) {
	status, err := c.Do(ctx, Call{Method: "POST", Path: "spaces", Body: n, Answer: &s, Repeat: true})
	return s, status == http.StatusCreated, err
}

// DeleteSpace deletes a space, with force also one that has tuples.
func (c *Client) DeleteSpace(ctx context.Context, name string, force bool) (d types.DeletedSpace, err error) {
	q := url.Values{"force": {strconv.FormatBool(force)}}
	_, err = c.Do(ctx, Call{Method: "DELETE", Path: spacePath(name, ""), Query: q, Answer: &d})
	return d, err
}
