package api

import (
	"context"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/process/exposition"
)

// memberRoutes are the routes for the coordinators of a realm.
func (s *server) memberRoutes() []route {
	return []route{
		on("finishUpgrade", "POST", "/upgrade/finish", "Have the coordinators of the realm write the newest format that they read; conflict, with their names, if some do not read it. Earlier versions are refused from then on.", s.finishUpgrade),
		on("listMembers", "GET", "/members", "List the coordinators that serve the realm in turn, by name. A coordinator that keeps everything in its folder has none.", s.listMembers, page(maxPage)...),
		on("getRealm", "GET", "/realm", "Show how the coordinator that serves keeps its realm in the database.", s.getRealm),
	}
}

// getRealm answers with an empty realm if the coordinator works alone.
func (s *server) getRealm(context.Context, *request) (types.Realm, error) {
	if s.Realm == nil {
		return types.Realm{}, nil
	}
	r := s.Realm()
	if stats := s.Engine.Stats(); stats.Commits > 0 {
		mean := models.SecondsOf(stats.CommitTime / time.Duration(stats.Commits))
		r.Commit = &mean
	}
	return r, nil
}

// collectRealm collects who owns the realm, if the coordinator does not work alone.
func (s *server) collectRealm(to exposition.Sink) {
	if s.Realm == nil {
		return
	}
	r := s.Realm()
	to.Gauge("leasehold_standby", standbyHelp, 0)
	to.Gauge("leasehold_realm_epoch", "This is how often the realm has been taken over.", float64(r.Epoch), "realm", r.Name, "owner", r.Owner)
	to.Gauge("leasehold_journal_unfolded_commits", "This is the number of commits of the log that are not folded into the table of facts.", float64(r.Commits))
	to.Gauge("leasehold_journal_unfolded_bytes", "This is the size of the commits that are not folded.", float64(r.Bytes))
}

func (s *server) listMembers(ctx context.Context, q *request) (types.Page[types.Member], error) {
	if s.Members == nil {
		return types.Page[types.Member]{Items: []types.Member{}}, nil
	}
	all, err := s.Members(ctx)
	if err != nil {
		return types.Page[types.Member]{}, err
	}
	some := cut(q, all)
	return toPage(some.Items, some.Total, func(m types.Member) types.Member { return m }), nil
}

func (s *server) finishUpgrade(ctx context.Context, _ *request) (types.Upgrade, error) {
	if s.FinishUpgrade == nil {
		return types.Upgrade{}, fmt.Errorf("%w: this coordinator works alone, and has migrated its data folder at its start", fault.ErrConflict)
	}
	format, err := s.FinishUpgrade(ctx)
	return types.Upgrade{Format: format}, err
}
