package api

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
	"leasehold/shared/protocol/visit/policy"
)

func (s *server) listFindings(ctx context.Context, q *request) (types.Page[catalog.Finding], error) {
	about, part := catalog.About{Episode: q.text("episode"), Clip: q.text("clip")}, catalog.Part{Offset: q.number("offset"), Limit: q.number("limit")}
	findings, total, err := s.Catalog.FindingsOf(ctx, about, part)
	return toPage(findings, total, itself), err
}

func (s *server) listProblems(ctx context.Context, q *request) (types.Page[catalog.Problem], error) {
	about := catalog.About{Origin: q.text("origin"), Episode: q.text("episode"), Clip: q.text("clip")}
	problems, total, err := s.Catalog.ProblemsOf(ctx, about, catalog.Part{Offset: q.number("offset"), Limit: q.number("limit")})
	return toPage(problems, total, itself), err
}

func (s *server) retryProblems(ctx context.Context, _ *request, r types.Retry) (done types.Retried, err error) {
	done.Recordings, err = s.Catalog.Retry(ctx, catalog.About{Origin: r.Origin, Episode: r.Episode, Clip: r.Clip}, r.Lasting)
	return done, err
}

func (s *server) getTotals(ctx context.Context, _ *request) (catalog.Totals, error) {
	return s.Catalog.Totals(ctx)
}

// makeBackup writes a backup to a folder of this machine, so only a client on this machine may request it.
func (s *server) makeBackup(ctx context.Context, q *request, backup types.Backup) (types.Backup, error) {
	if !filepath.IsAbs(backup.Path) {
		return backup, fmt.Errorf("path %.100q: %w: want an absolute path", backup.Path, fault.ErrInvalid)
	}
	if !isLocal(q.Request) {
		return backup, fmt.Errorf("backup %.100q: %w: it is a folder on the coordinator's machine, so it can be made only from there; run leasehold backup on that machine", backup.Path, fault.ErrForbidden)
	}
	if s.Backup == nil {
		return backup, fmt.Errorf("%w: this coordinator makes no backups", fault.ErrForbidden)
	}
	return backup, s.Backup(ctx, backup.Path)
}

// The routes below /catalog are the methods of catalog.Catalog, for managers that keep
// their catalog here (package api/catalog).

// reasons are why an origin may not be visited.
var reasons = []policy.Reason{policy.ByFailures, policy.ByGone, policy.ByLister, policy.ByOperator}

// checkSchedule refuses what only the schedule keeps of an origin, as checkOrigin does.
func checkSchedule(o models.Origin) error {
	switch {
	case o.Every != nil && !models.ValidEvery(*o.Every):
		return fmt.Errorf("every_s %v: %w: %s", *o.Every, fault.ErrInvalid, models.EveryRule)
	case o.Disabled != "" && !slices.Contains(reasons, policy.Reason(o.Disabled)):
		return fmt.Errorf("disabled %.64q: %w: want %s", o.Disabled, fault.ErrInvalid, wording.Or(reasons...))
	}
	return visits.CheckHours(o.Hours)
}

// catalogOrigin adds an origin for a manager, guarded as addOrigin does. Only a client on this machine may add a path (otherwise
// fault.ErrForbidden), and a kind of a program must be registered (fault.ErrNotFound).
func (s *server) catalogOrigin(ctx context.Context, q *request, o models.Origin) (added types.Added, err error) {
	if err := checkSchedule(o); err != nil {
		return added, err
	}
	err = requireLocal(q.Request, o.URI)
	if err == nil && o.Kind.Accepted(o.URI) { // else AddOrigin refuses it
		err = s.requireRegistered(ctx, o.Kind)
	}
	if err != nil {
		return added, err
	}
	o.Listed = o.Listed || !isLocal(q.Request)
	added.New, err = s.Catalog.AddOrigin(ctx, o)
	return added, err
}

func (s *server) catalogOutcome(ctx context.Context, _ *request, o models.Outcome) (none, error) {
	if err := checkOutcome(o); err != nil {
		return none{}, err
	}
	return none{}, s.Catalog.RecordOutcome(ctx, o)
}

func (s *server) catalogCurate(ctx context.Context, _ *request, l types.Listing) (catalog.Curated, error) {
	return s.Catalog.Curate(ctx, l.Origin, l.At, l.Listing)
}

func (s *server) catalogAudio(ctx context.Context, q *request) (audio types.Audio, err error) {
	list, err := s.Catalog.AudioToCheck(ctx, q.text("origin"), q.number("limit"))
	return types.Audio{Items: append([]models.Audio{}, list...)}, err
}

func (s *server) catalogAudioChecked(ctx context.Context, _ *request, checked types.Audio) (types.Replaced, error) {
	n, err := s.Catalog.AudioChecked(ctx, checked.At, checked.Items)
	return types.Replaced{Replaced: n}, err
}

func (s *server) catalogSelect(ctx context.Context, _ *request, selection types.Selection) (selected types.Selected, err error) {
	selected.Research, selected.Priority, err = s.Catalog.Select(ctx, selection.Busy, selection.Limits)
	return selected, err
}

func (s *server) catalogIngest(ctx context.Context, _ *request, i types.Ingestion) (none, error) {
	return none{}, s.Catalog.Ingest(ctx, i.Result, i.At)
}

func (s *server) catalogLift(ctx context.Context, _ *request, pairs catalog.Busy) (none, error) {
	return none{}, s.Catalog.Lift(ctx, pairs.Episode, pairs.Clips)
}
