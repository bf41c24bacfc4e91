package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"leasehold/models"
	"leasehold/shared/apitypes"
	"leasehold/shared/lease"
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// Sessions reads the status space, and the claims: by id.
func Sessions(ctx context.Context, repo space.Repository) ([]apitypes.Session, error) {
	states, err := repo.Space(status.Space).QueryAll(ctx, status.AnyState())
	if err != nil {
		return nil, err
	}
	serves, err := repo.Space(status.Space).QueryAll(ctx, status.MatchServing(tuple.AnyString, tuple.AnyString))
	if err != nil {
		return nil, err
	}
	claims, err := repo.Space(lease.Space).QueryAll(ctx, task.AnyClaim())
	if err != nil {
		return nil, err
	}
	served, held := map[string][]apitypes.Served{}, map[string][]string{}
	for _, t := range serves {
		v := status.DecodeServing(t)
		served[v.ID] = append(served[v.ID], apitypes.Served{Action: v.Action, Slots: v.Slots})
	}
	for _, t := range claims {
		c := task.DecodeClaim(t)
		held[c.Worker] = append(held[c.Worker], c.Task)
	}
	sessions := make([]apitypes.Session, len(states))
	for i, t := range states {
		v := status.DecodeState(t)
		sessions[i] = apitypes.Session{
			ID: v.ID, Mode: modeOf(v.ID), State: v.State, Since: v.Since,
			Serves: append([]apitypes.Served{}, served[v.ID]...), Tasks: append([]string{}, held[v.ID]...),
		}
	}
	slices.SortStableFunc(sessions, func(a, b apitypes.Session) int { return strings.Compare(a.ID, b.ID) })
	return sessions, nil
}

// modeOf is what an id begins with: <mode>-<8 hex>.
func modeOf(id string) string {
	if i := strings.LastIndexByte(id, '-'); i > 0 {
		return id[:i]
	}
	return ""
}

func (s *server) listSessions(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit")
	p := q.part(MaxPage)
	if q.err != nil {
		return nil, q.err
	}
	all, err := Sessions(ctx, s.repo)
	return cut(all, p, itself), err
}

// Costs reads what tasks have cost, by action and way.
func Costs(ctx context.Context, repo space.Repository) ([]models.Cost, error) {
	costs, err := status.Costs(ctx, repo)
	slices.SortFunc(costs, func(a, b models.Cost) int {
		return cmp.Or(strings.Compare(a.Action, b.Action), strings.Compare(a.How, b.How))
	})
	return costs, err
}

func (s *server) listCosts(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit")
	p := q.part(MaxPage)
	if q.err != nil {
		return nil, q.err
	}
	all, err := Costs(ctx, s.repo)
	return cut(all, p, itself), err
}

// drainSession passes the message on; what becomes of it is seen in the status.
func (s *server) drainSession(ctx context.Context, r *http.Request) (any, error) {
	id, err := pathID(r, "session")
	if err != nil {
		return nil, err
	}
	return reply{status: http.StatusAccepted}, status.Drain(ctx, s.repo, id)
}
