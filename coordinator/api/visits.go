package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"leasehold/coordinator"
	schedule "leasehold/coordinator/visit"
	"leasehold/coordinator/visit/store"
	"leasehold/models"
	"leasehold/shared/apitypes"
	"leasehold/shared/browse"
	"leasehold/shared/fault"
	"leasehold/shared/visit"
)

func rowOfVisit(x browse.Entry) apitypes.Visit {
	k := visit.DecodeKey(x.Tuple)
	row := apitypes.Visit{ID: k.Visit, Kind: k.Kind, Origin: k.Origin, State: "waiting", Holder: x.Holder}
	if x.Held {
		row.State = "held"
	}
	return row
}

func (s *server) listVisits(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit", "origin")
	origin, p := q.id("origin"), q.part(MaxTuples)
	if q.err != nil {
		return nil, q.err
	}
	page, err := s.visitsOf(ctx, origin, p)
	return seen(page, rowOfVisit), err
}

// visitsOf looks for the visits of an origin, or of all.
func (s *server) visitsOf(ctx context.Context, origin string, p part) (browse.Page, error) {
	t := visit.Any()
	if origin != "" {
		t = visit.AnyOf(origin)
	}
	return s.browse.Page(ctx, browse.Query{Space: visit.Space, Template: t, Held: true, Offset: p.offset, Limit: p.limit})
}

// seen shows a page of tuples.
func seen[T any](page browse.Page, f func(browse.Entry) T) apitypes.Page[T] {
	l := cut(page.Entries, part{0, len(page.Entries)}, f)
	l.Total = page.Total
	return l
}

// addVisit has an origin visited now, unless a visit of it is on its way.
func (s *server) addVisit(ctx context.Context, r *http.Request) (any, error) {
	var wanted apitypes.NewVisit
	if err := body(r, &wanted); err != nil {
		return nil, err
	}
	o, err := s.Catalog.Origin(ctx, wanted.Origin)
	if err != nil {
		return nil, err
	}
	if o.Kind == models.API {
		return nil, fmt.Errorf("origin %s: %w: its curator comes by itself", o.ID, fault.ErrInvalid)
	}
	page, err := s.visitsOf(ctx, o.ID, part{0, 1})
	if err != nil {
		return nil, err
	}
	if len(page.Entries) > 0 {
		return reply{status: http.StatusAccepted, body: rowOfVisit(page.Entries[0])}, nil
	}
	err = s.Visits.SaveNow(ctx, time.Now(), o.ID)
	return reply{status: http.StatusAccepted, body: apitypes.Visit{Kind: o.Kind, Origin: o.ID, State: "asked"}}, err
}

// nextVisits lists what would be visited next.
func (s *server) nextVisits(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "limit")
	n := q.number("limit", 20, MaxTuples)
	if q.err != nil {
		return nil, q.err
	}
	next, err := s.Visits.Next(ctx, time.Now(), n)
	return cut(next, part{0, n}, NextOf), err
}

// NextOf shows an origin that would be visited next.
func NextOf(n store.Next) apitypes.NextVisit {
	return apitypes.NextVisit{
		Origin: n.Origin.ID, Kind: n.Origin.Kind, URI: n.Origin.URI, Pool: n.Pool, Class: n.Class, Rate: n.Rate, Value: n.Value,
	}
}

// putOutcome records the outcome of a visit that somebody else made.
func (s *server) putOutcome(ctx context.Context, r *http.Request) (any, error) {
	var o models.Outcome
	if err := body(r, &o); err != nil {
		return nil, err
	}
	if o.At.IsZero() || !models.ValidID(o.Origin) || o.Listed != nil {
		return nil, fmt.Errorf("outcome: %w: an origin's id and the time at which it was visited are wanted; what a lister named is not taken here", fault.ErrInvalid)
	}
	if len(o.ChangedAt) > models.MaxChanges || o.Changes < 0 || o.Size < 0 || !(o.Took >= 0 && o.RetryAfter >= 0) {
		return nil, fmt.Errorf("outcome: %w: numbers are 0 or more, and at most %d times of changes", fault.ErrInvalid, models.MaxChanges)
	}
	if !slices.Contains([]models.Status{models.Eventful, models.Uneventful, models.Failed, models.NotFound}, o.Status) {
		return nil, fmt.Errorf("outcome: status %.64q: %w: eventful, uneventful, failed or not_found is accepted", o.Status, fault.ErrInvalid)
	}
	if _, err := s.Catalog.Origin(ctx, o.Origin); err != nil {
		return nil, err
	}
	ignored, err := coordinator.Record(ctx, s.Catalog, s.Visits, o)
	return apitypes.Recorded{Ignored: ignored}, err
}

func (s *server) getSchedule(ctx context.Context, r *http.Request) (any, error) {
	id, err := pathID(r, "origin")
	if err != nil {
		return nil, err
	}
	l, err := s.Visits.Look(ctx, time.Now(), id)
	return ScheduleOf(l), err
}

func (s *server) steer(ctx context.Context, r *http.Request) (any, error) {
	id, err := pathID(r, "origin")
	if err != nil {
		return nil, err
	}
	var wanted apitypes.Steering
	if err := body(r, &wanted); err != nil {
		return nil, err
	}
	if err := s.Visits.Steer(ctx, time.Now(), id, wanted.Action); err != nil {
		return nil, err
	}
	return s.getSchedule(ctx, r)
}

// ScheduleOf shows when an origin is visited.
func ScheduleOf(l store.Look) apitypes.Schedule {
	out := apitypes.Schedule{
		Origin: l.Origin.ID, Kind: l.Origin.Kind, URI: l.Origin.URI, Why: l.Why, Disabled: string(l.Disabled), Group: schedule.Group(l.State).String(),
		Pool: l.Pool, Class: int(l.Place.Class), Value: l.Value, Rate: l.Rate, Asked: l.Urgent, Visit: l.Visit, Lister: l.Listed,
		FirstSeen: moment(l.FirstSeen), LastSeen: moment(l.LastSeen), LastUpdate: moment(l.LastUpdate),
		LastScheduled: moment(l.LastScheduled), LastSuccess: moment(l.LastSuccess), Failures: l.Failures, Index: l.Index, Digest: l.LastDigest,
		History: []apitypes.PastVisit{},
	}
	if l.Why != schedule.Eligible && l.Enabled() {
		out.Until = moment(l.Until)
	}
	if l.Target != schedule.Never {
		out.Target = &l.Target
	}
	for _, p := range l.History {
		out.History = append(out.History, apitypes.PastVisit(p))
	}
	return out
}

// moment is a time of the store; never is none.
func moment(seconds int64) time.Time {
	if seconds == schedule.Never {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// listListers lists the origins that name others.
func (s *server) listListers(ctx context.Context, r *http.Request) (any, error) {
	q := ask(r, "offset", "limit")
	p := q.part(MaxPage)
	if q.err != nil {
		return nil, q.err
	}
	all, err := s.Catalog.Origins(ctx)
	listers := slices.DeleteFunc(all, func(o models.Origin) bool { return !slices.Contains(models.Listers, o.Kind) })
	return cut(listers, p, itself), err
}

// addLister is addOrigin of one that names others.
func (s *server) addLister(ctx context.Context, r *http.Request) (any, error) {
	var wanted apitypes.NewOrigin
	if err := body(r, &wanted); err != nil {
		return nil, err
	}
	if !slices.Contains(models.Listers, wanted.Kind) {
		return nil, fmt.Errorf("kind %.64q: %w: accepted are %v", wanted.Kind, fault.ErrInvalid, models.Listers)
	}
	return s.add(ctx, r, wanted)
}
