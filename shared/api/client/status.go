package client

import (
	"context"
	"errors"
	"net/url"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

const (
	// statusTimeout is the timeout of questions about the coordinator itself: a busy
	// coordinator answers within it, and a health check can wait that long.
	statusTimeout = 5 * time.Second
	// backupTimeout is the API's own timeout of long requests.
	backupTimeout = 5 * time.Minute
)

// Status describes a coordinator. Its parts are requested one after the other, so they
// are not of the same moment.
type Status struct {
	Coordinator string `json:"coordinator"` // URL
	// Attention is what needs attention, the worst first.
	Attention []models.Attention `json:"attention"`
	Sessions  []types.Session    `json:"sessions"`
	Spaces    []types.Space      `json:"spaces"`
	Totals    catalog.Totals     `json:"totals"`
	Dead      int                `json:"dead"`  // number of dead letters
	Costs     []models.Cost      `json:"costs"` // of all tasks since the coordinator started
	// Database is the result of the latest nightly check.
	Database types.DatabaseCheck `json:"database"`
	Realm    *types.Realm        `json:"realm,omitempty"` // nil: the coordinator works alone
}

// Alive asks once, with a short timeout, whether a coordinator responds.
func (c *Client) Alive(ctx context.Context) error {
	var none types.Page[types.Session]
	_, err := c.Do(ctx, Call{Method: "GET", Path: "status", Query: url.Values{"limit": {"0"}}, Answer: &none, Timeout: statusTimeout})
	return err
}

// Drain tells a manager or a worker to finish or hand back what it holds, and to end.
func (c *Client) Drain(ctx context.Context, session string) error {
	_, err := c.Do(ctx, Call{Method: "POST", Path: "sessions/" + url.PathEscape(session) + "/drain"})
	return err
}

// Backup makes the coordinator write a backup of its data folder to an absolute path on
// its machine, which must not exist.
func (c *Client) Backup(ctx context.Context, path string) error {
	_, err := c.Do(ctx, Call{Method: "POST", Path: "backups", Body: types.Backup{Path: path}, Timeout: backupTimeout})
	return err
}

// Working returns what managers and workers do.
func (c *Client) Working(ctx context.Context) ([]types.Session, error) {
	page, err := List[types.Session](ctx, c, "status", nil, PageSize, All)
	return append([]types.Session{}, page.Items...), err // [] in JSON, not null
}

// Status requests all parts of a coordinator's status, within twice statusTimeout.
func (c *Client) Status(ctx context.Context) (Status, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*statusTimeout, c.first.Load().unreachable(context.DeadlineExceeded))
	defer cancel()
	s := Status{Coordinator: c.Base()}
	report, err := c.Attention(ctx)
	if err != nil {
		return Status{}, err
	}
	s.Attention = append([]models.Attention{}, report.Items...)
	if _, err := c.Do(ctx, Call{Method: "GET", Path: "totals", Answer: &s.Totals, Repeat: true}); err != nil {
		return Status{}, err
	}
	sessions, err := c.Working(ctx)
	if err != nil {
		return Status{}, err
	}
	s.Sessions = sessions
	if s.Spaces, err = c.Spaces(ctx); err != nil {
		return Status{}, err
	}
	costs, err := List[models.Cost](ctx, c, "costs", nil, PageSize, All)
	if err != nil {
		return Status{}, err
	}
	if _, err := c.Do(ctx, Call{Method: "GET", Path: "database", Answer: &s.Database, Repeat: true}); err != nil {
		return Status{}, err
	}
	var realm types.Realm
	_, err = c.Do(ctx, Call{Method: "GET", Path: "realm", Answer: &realm, Repeat: true})
	if err != nil && !errors.Is(err, fault.ErrNotFound) { // which a coordinator of an earlier version answers
		return Status{}, err
	}
	if realm.Name != "" {
		s.Realm = &realm
	}
	for _, x := range s.Spaces {
		if x.Name == "dead" { // the space of dead letters
			s.Dead = x.Visible
		}
	}
	s.Costs = append([]models.Cost{}, costs.Items...) // [] in JSON, not null
	return s, nil
}
