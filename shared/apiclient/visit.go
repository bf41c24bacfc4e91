package apiclient

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"leasehold/models"
)

// NextVisit is an origin that would be visited next, and why.
type NextVisit struct {
	Origin string            `json:"origin"` // id
	Kind   models.OriginKind `json:"kind"`
	URI    string            `json:"uri"`
	Pool   string            `json:"pool"`
	Class  int               `json:"class"`
	Rate   float64           `json:"rate_per_day"`
	Value  float64           `json:"value"`
}

// Schedule is when an origin is visited, and what decides that.
type Schedule struct {
	Origin   string            `json:"origin"` // id
	Kind     models.OriginKind `json:"kind"`
	URI      string            `json:"uri"`
	Why      string            `json:"why"` // eligible, or why it is not visited now
	Until    time.Time         `json:"until,omitzero"`
	Disabled string            `json:"disabled,omitempty"` // failures, lister or operator
	Group    string            `json:"group"`
	Pool     string            `json:"pool"`
	Class    int               `json:"class"`
	Value    float64           `json:"value"`
	Rate     float64           `json:"rate_per_day"`
	Asked    bool              `json:"asked,omitempty"` // somebody wants a visit now
	Visit    string            `json:"visit,omitempty"` // under way
	Lister   string            `json:"lister,omitempty"`

	FirstSeen     time.Time   `json:"first_seen"`
	LastSeen      time.Time   `json:"last_seen"`
	LastUpdate    time.Time   `json:"last_update,omitzero"`
	LastScheduled time.Time   `json:"last_scheduled,omitzero"`
	LastSuccess   time.Time   `json:"last_success,omitzero"`
	Failures      int         `json:"failures"`
	Index         int         `json:"index"`
	Target        *int64      `json:"target,omitempty"` // a position in an order, not a date
	Digest        string      `json:"digest,omitempty"`
	History       []PastVisit `json:"history"`
}

// PastVisit is an outcome, the latest first.
type PastVisit struct {
	At      time.Time      `json:"at"`
	Status  models.Status  `json:"status"`
	Changed bool           `json:"changed"`
	Changes float64        `json:"changes,omitempty"`
	Took    models.Seconds `json:"took_s"`
	Size    int64          `json:"size,omitempty"`
	Error   string         `json:"error,omitempty"`
}

// What Steer may do with the visits of an origin.
const (
	Enable  = "enable"
	Disable = "disable"
	SaveNow = "save-now"
)

// NextVisits lists the n origins that would be visited next, the best first.
func (c *Client) NextVisits(ctx context.Context, n int) ([]NextVisit, error) {
	var page Page[NextVisit]
	_, err := c.Do(ctx, Call{Method: "GET", Path: "visits/next", Query: url.Values{"limit": {strconv.Itoa(n)}}, Answer: &page, Repeat: true})
	return page.Items, err
}

// Schedule returns when an origin is visited.
func (c *Client) Schedule(ctx context.Context, origin string) (s Schedule, err error) {
	_, err = c.Do(ctx, Call{Method: "GET", Path: "origins/" + url.PathEscape(origin) + "/schedule", Answer: &s, Repeat: true})
	return s, err
}

// Steer enables or disables an origin, or has it visited now.
func (c *Client) Steer(ctx context.Context, origin, what string) (s Schedule, err error) {
	body := struct {
		Action string `json:"action"`
	}{what}
	_, err = c.Do(ctx, Call{Method: "POST", Path: "origins/" + url.PathEscape(origin) + "/schedule", Body: body, Answer: &s, Repeat: true})
	return s, err
}
