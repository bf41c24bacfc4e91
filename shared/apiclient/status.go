package apiclient

import (
	"context"
	"net/url"
	"time"

	"leasehold/models"
)

// askTimeout is how long a question about the coordinator itself may take: long
// enough for one that is busy, short enough for whoever checks its health.
const askTimeout = 5 * time.Second

// A Session is a connected manager, worker or client as it shows itself.
type Session struct {
	ID     string   `json:"id"`
	Mode   string   `json:"mode"`
	State  string   `json:"state"` // what it does
	Since  string   `json:"since"`
	Serves []Served `json:"serves"`
	Tasks  []string `json:"tasks"` // that it holds
}

// Served is an action that a session serves.
type Served struct {
	Action string `json:"action"`
	Slots  int64  `json:"slots"`
}

// Totals counts what the catalog holds.
type Totals struct {
	Origins    int `json:"origins"`
	Episodes   int `json:"episodes"`
	Clips      int `json:"clips"`
	Findings   int `json:"findings"`
	Problems   int `json:"problems"`
	Researched int `json:"researched"` // (episode, clip) pairs
}

// Status is a coordinator at one time, more or less: its parts are asked one
// after the other.
type Status struct {
	Coordinator string    `json:"coordinator"` // URL
	Sessions    []Session `json:"sessions"`
	Spaces      []Space   `json:"spaces"`
	Totals      Totals    `json:"totals"`
	Dead        int       `json:"dead"` // dead letters
	// Costs are what tasks have cost since the coordinator began.
	Costs []models.Cost `json:"costs"`
}

// Alive asks whether a coordinator answers at all; once, and briefly.
func (c *Client) Alive(ctx context.Context) error {
	var none Page[Space]
	_, err := c.Do(ctx, Call{Method: "GET", Path: "spaces", Query: url.Values{"limit": {"0"}}, Answer: &none, Timeout: askTimeout})
	return err
}

// Drain tells a manager or a worker to finish or hand back what it holds, and to end.
func (c *Client) Drain(ctx context.Context, session string) error {
	_, err := c.Do(ctx, Call{Method: "POST", Path: "sessions/" + url.PathEscape(session) + "/drain"})
	return err
}

// Status asks for everything that says how a coordinator is.
func (c *Client) Status(ctx context.Context) (Status, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*askTimeout, c.unreached(context.DeadlineExceeded))
	defer cancel()
	s := Status{Coordinator: c.Base()}
	if _, err := c.Do(ctx, Call{Method: "GET", Path: "totals", Answer: &s.Totals, Repeat: true}); err != nil {
		return Status{}, err
	}
	sessions, err := List[Session](ctx, c, "status", nil, PageSize, -1)
	if err != nil {
		return Status{}, err
	}
	if s.Spaces, err = c.Spaces(ctx); err != nil {
		return Status{}, err
	}
	costs, err := List[models.Cost](ctx, c, "costs", nil, PageSize, -1)
	if err != nil {
		return Status{}, err
	}
	dead, err := List[Task](ctx, c, "dead", nil, TuplesPage, 0)
	s.Sessions, s.Costs, s.Dead = append([]Session{}, sessions.Items...), append([]models.Cost{}, costs.Items...), dead.Total
	return s, err
}
