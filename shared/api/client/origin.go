package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"leasehold/models"
	"leasehold/shared/api/types"
)

// AddOrigin adds an origin and asks for a visit of it, also if it is known. A known one keeps
// its priority if keepPriority is true. isNew reports whether it was unknown; then no visit is
// requested, because the coordinator visits a new origin at once.
func (c *Client) AddOrigin(ctx context.Context, o models.Origin, keepPriority bool) (added models.Origin, isNew bool, err error) {
	body := types.NewOrigin{Kind: o.Kind, URI: o.URI, Priority: &o.Priority, Every: o.Every, Hours: o.Hours, Branches: o.Branches, Tags: o.Tags}
	if keepPriority {
		body.Priority = nil
	}
	status, err := c.Do(ctx, Call{Method: "POST", Path: "origins", Body: body, Answer: &added, Repeat: true})
	if err != nil || status == http.StatusCreated {
		return added, err == nil, err
	}
	_, err = c.Do(ctx, Call{Method: "POST", Path: "visits", Body: types.NewVisit{Origin: added.ID}, Repeat: true})
	return added, false, err
}

// ChangeOrigin changes the priority of an origin, its fixed interval and its hours; what change leaves out stays.
func (c *Client) ChangeOrigin(ctx context.Context, origin string, change types.OriginChange) (o models.Origin, err error) {
	_, err = c.Do(ctx, Call{Method: "PATCH", Path: "origins/" + url.PathEscape(origin), Body: change, Answer: &o, Repeat: true})
	return o, err
}

// NextVisits lists the n origins that would be visited next, the best first.
func (c *Client) NextVisits(ctx context.Context, n int) ([]types.NextVisit, error) {
	var page types.Page[types.NextVisit]
	_, err := c.Do(ctx, Call{Method: "GET", Path: "visits/next", Query: url.Values{"limit": {strconv.Itoa(n)}}, Answer: &page, Repeat: true})
	return page.Items, err
}

// Capacity returns what a number of slots can hold, 0: those that managers have now.
func (c *Client) Capacity(ctx context.Context, slots int) (x types.Capacity, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "visits/capacity", Query: url.Values{"slots": {strconv.Itoa(slots)}}, Answer: &x, Repeat: true})
	return x, err
}

// Schedule returns when an origin is visited.
func (c *Client) Schedule(ctx context.Context, origin string) (s types.Schedule, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "origins/" + url.PathEscape(origin) + "/schedule", Answer: &s, Repeat: true})
	return s, err
}

// Steer enables or disables an origin, or asks for a visit of it: action is Enable,
// Disable, SaveNow or ForceNow of package api/types.
func (c *Client) Steer(ctx context.Context, origin, action string) (s types.Schedule, err error) {
	path, body := "origins/"+url.PathEscape(origin)+"/schedule", types.Steering{Action: action}
	_, err = c.Do(ctx, Call{Method: "POST", Path: path, Body: body, Answer: &s, Repeat: true})
	return s, err
}
