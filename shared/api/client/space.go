package client

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

// Spaces lists the spaces.
func (c *Client) Spaces(ctx context.Context) ([]types.Space, error) {
	page, err := List[types.Space](ctx, c, "spaces", nil, PageSize, All)
	return append([]types.Space{}, page.Items...), err
}

// spacePath is the path of a space, or of a part of it if what is not empty.
func spacePath(name, what string) string {
	path := "spaces/" + url.PathEscape(name)
	if what != "" {
		path += "/" + what
	}
	return path
}

// Tuples lists at most most tuples that match a template in the notation of package
// tuple, without taking any; a negative most lists all. Held tuples are listed if held.
func (c *Client) Tuples(ctx context.Context, space, template string, held bool, most int) (types.Page[types.Tuple], error) {
	q := url.Values{"template": {template}, "held": {strconv.FormatBool(held)}}
	return List[types.Tuple](ctx, c, spacePath(space, "tuples"), q, TuplesPage, most)
}

// LastTuples lists the last most tuples of a space, at most TuplesPage, in their order,
// without taking any. Tuples that are put or taken meanwhile may shift the list.
func (c *Client) LastTuples(ctx context.Context, space string, most int) ([]types.Tuple, error) {
	path := spacePath(space, "tuples")
	var counted, page types.Page[types.Tuple]
	if _, err := c.Do(ctx, Call{Method: "GET", Path: path, Query: url.Values{"limit": {"0"}}, Answer: &counted, Repeat: true}); err != nil {
		return nil, err
	}
	q := url.Values{"offset": {strconv.Itoa(max(0, counted.Total-most))}, "limit": {strconv.Itoa(most)}}
	_, err := c.Do(ctx, Call{Method: "GET", Path: path, Query: q, Answer: &page, Repeat: true})
	return page.Items, err
}

// Put puts a tuple in the notation of package tuple; with a ttl of 0 it stays until it is
// taken.
func (c *Client) Put(ctx context.Context, space, line string, ttl time.Duration) (t types.Tuple, err error) {
	body := types.NewTuple{Tuple: line, TTL: models.SecondsOf(ttl)}
	_, err = c.Do(ctx, Call{Method: "POST", Path: spacePath(space, "put"), Body: body, Answer: &t})
	return t, err
}

// maxWait is how long one request waits for a tuple: less than the API's own limit.
const maxWait = 20 * time.Second

// Get takes a tuple that matches a template. It waits for one for the given time, or until ctx ends if wait is
// negative. It fails with fault.ErrNotFound if none came or the space does not exist.
func (c *Client) Get(ctx context.Context, space, template string, wait time.Duration) (t types.Tuple, err error) {
	for end := time.Now().Add(wait); ; {
		// The response to a get does not tell a missing space, which may have been deleted since the last
		// one, from a missing tuple.
		if _, err := c.Do(ctx, Call{Method: "GET", Path: spacePath(space, ""), Repeat: true}); err != nil {
			return t, err
		}
		body := types.Lookup{Template: template, Wait: models.SecondsOf(maxWait)}
		if wait >= 0 {
			body.Wait = models.SecondsOf(max(0, min(maxWait, time.Until(end))))
		}
		_, err := c.Do(ctx, Call{Method: "POST", Path: spacePath(space, "get"), Body: body, Answer: &t})
		if err == nil || !errors.Is(err, fault.ErrNotFound) {
			return t, err
		}
		if wait >= 0 && time.Until(end) <= 0 {
			return t, fmt.Errorf("space %s: %w: no tuple matches %s", space, fault.ErrNotFound, template)
		}
	}
}
