package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/space/engine"
)

var errNoEngine = errors.Join(fault.ErrUnavailable, errors.New("the engine is not served here"))

// listOpenSessions lists the sessions of the engine. The states come from the status space, which has managers
// and workers only; a session whose connection was lost shows that it waits for its client.
func (s *server) listOpenSessions(ctx context.Context, q *request) (types.Page[types.OpenSession], error) {
	if s.Engine == nil {
		return types.Page[types.OpenSession]{}, errNoEngine
	}
	described, err := Sessions(ctx, s.repo)
	if err != nil {
		return types.Page[types.OpenSession]{}, err
	}
	states := map[string]string{}
	for _, d := range described {
		states[d.ID] = d.State
	}
	some := cut(q, s.Engine.Sessions())
	return toPage(some.Items, some.Total, func(i engine.SessionInfo) types.OpenSession {
		shown := types.OpenSession{
			ID: i.ID, Name: i.Process.Name, Mode: i.Process.Mode, Host: i.Process.Host, PID: i.Process.PID, Version: i.Process.Version, State: states[i.ID],
			Opened: i.Opened.UTC().Format(time.RFC3339), TTL: models.SecondsOf(i.TTL), Holds: i.Holds, Waits: i.Waits,
		}
		if i.Waiting {
			shown.State = "waits for its client to come back"
		}
		if !i.Seen.IsZero() {
			shown.LastHeartbeat = i.Seen.UTC().Format(time.RFC3339)
		}
		return shown
	}), nil
}

// endSession ends a session. A worker ends only one that it opened.
func (s *server) endSession(ctx context.Context, q *request) (none, error) {
	if s.Engine == nil {
		return none{}, errNoEngine
	}
	id := q.text("session")
	if !access.Of(ctx).Roles.Meet(access.Admin) {
		switch _, err := s.workerOf(ctx, q); {
		case errors.Is(err, fault.ErrClosed):
			return none{}, fmt.Errorf("session %.100q: %w: it has ended, or is not of a worker over HTTP", id, fault.ErrNotFound)
		case err != nil:
			return none{}, err
		}
	}
	return none{}, s.Engine.EndSession(ctx, id)
}
