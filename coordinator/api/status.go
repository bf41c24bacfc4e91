package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Sessions returns the sessions, by id, from the status space, and the tasks that they hold from
// their claims. The three are read one after the other, so that a task may be missing, or be with
// a session that has given it back meanwhile.
func Sessions(ctx context.Context, repo space.Repository) ([]types.Session, error) {
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
	served, held := map[string][]types.Served{}, map[string][]string{}
	for _, t := range serves {
		v := status.DecodeServing(t)
		served[v.ID] = append(served[v.ID], types.Served{Action: v.Action, Slots: v.Slots})
	}
	for _, t := range claims {
		c := task.DecodeClaim(t)
		held[c.Worker] = append(held[c.Worker], c.Task)
	}
	sessions := make([]types.Session, len(states))
	for i, t := range states {
		v := status.DecodeState(t)
		sessions[i] = types.Session{
			ID: v.ID, Mode: modeOf(v.ID), State: v.State, Since: v.Since,
			Serves: append([]types.Served{}, served[v.ID]...), Tasks: append([]string{}, held[v.ID]...),
		}
	}
	slices.SortStableFunc(sessions, func(a, b types.Session) int { return strings.Compare(a.ID, b.ID) })
	return sessions, nil
}

// modeOf returns the mode of a session id, which is <mode>-<8 hex>; empty if it is not.
func modeOf(id string) string { return id[:max(0, strings.LastIndexByte(id, '-'))] }

func (s *server) listSessions(ctx context.Context, q *request) (types.Page[types.Session], error) {
	all, err := Sessions(ctx, s.repo)
	return cut(q, all), err
}

// Costs reads the costs of tasks, by action and how.
func Costs(ctx context.Context, repo space.Repository) ([]models.Cost, error) {
	costs, err := status.Costs(ctx, repo)
	slices.SortFunc(costs, func(a, b models.Cost) int {
		return cmp.Or(strings.Compare(a.Action, b.Action), strings.Compare(a.How, b.How))
	})
	return costs, err
}

func (s *server) listCosts(ctx context.Context, q *request) (types.Page[models.Cost], error) {
	all, err := Costs(ctx, s.repo)
	return cut(q, all), err
}

// drainSession sends the message; the status shows whether the session drains.
func (s *server) drainSession(ctx context.Context, q *request) (none, error) {
	return none{}, status.Drain(ctx, s.repo, q.text("session"))
}

// databaseCheck answers with an empty check if the coordinator has made none yet.
func (s *server) databaseCheck(context.Context, *request) (types.DatabaseCheck, error) {
	if s.Database == nil {
		return types.DatabaseCheck{Damage: []string{}}, nil
	}
	return s.Database(), nil
}
