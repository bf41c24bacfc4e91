package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"leasehold/coordinator"
	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit"
	schedule "leasehold/shared/protocol/visit/policy"
	"leasehold/shared/space/browse"
)

func showVisit(x browse.Entry) types.Visit {
	k := visit.DecodeKey(x.Tuple)
	shown := types.Visit{ID: k.Visit, Kind: k.Kind, Origin: k.Origin, State: "waiting", Holder: x.Holder}
	if x.Held {
		shown.State = "held"
	}
	return shown
}

func (s *server) listVisits(ctx context.Context, q *request) (types.Page[types.Visit], error) {
	found, err := s.visitsOf(ctx, q.text("origin"), q.number("offset"), q.number("limit"))
	return toPage(found.Entries, found.Total, showVisit), err
}

// visitsOf returns the visits of an origin that wait or are held, of all origins if it is
// empty.
func (s *server) visitsOf(ctx context.Context, origin string, offset, limit int) (browse.Page, error) {
	t := visit.Any()
	if origin != "" {
		t = visit.AnyOf(origin)
	}
	return s.browse.Page(ctx, browse.Query{Space: visit.Space, Template: t, Held: true, Offset: offset, Limit: limit})
}

// addVisit has an origin visited now, unless a visit of it waits or is held, which it then returns. The visit
// that it asks for has no id yet: it gets one when a manager has a free slot. Kinds without visits are refused.
func (s *server) addVisit(ctx context.Context, _ *request, n types.NewVisit) (asked types.Visit, err error) {
	o, err := s.Catalog.Origin(ctx, n.Origin)
	if err != nil {
		return asked, err
	}
	if !o.Kind.Visited() {
		return asked, fmt.Errorf("origin %s: %w: origins of kind %s are not visited", o.ID, fault.ErrConflict, o.Kind)
	}
	found, err := s.visitsOf(ctx, o.ID, 0, 1)
	if err != nil {
		return asked, err
	}
	if len(found.Entries) > 0 {
		return showVisit(found.Entries[0]), nil
	}
	return types.Visit{Kind: o.Kind, Origin: o.ID, State: "asked"}, s.Visits.SaveNow(ctx, time.Now(), o.ID)
}

func (s *server) nextVisits(ctx context.Context, q *request) (types.Page[types.NextVisit], error) {
	next, err := s.Visits.Next(ctx, time.Now(), q.number("limit"))
	return toPage(next, len(next), NextOf), err
}

// getCapacity returns what a number of slots can hold; 0 stands for those that managers have now.
func (s *server) getCapacity(ctx context.Context, q *request) (types.Capacity, error) {
	slots := q.number("slots")
	if slots == 0 {
		sessions, err := Sessions(ctx, s.repo)
		if err != nil {
			return types.Capacity{}, err
		}
		for _, session := range sessions {
			for _, x := range session.Serves {
				if x.Action == visit.Action {
					slots += int(x.Slots)
				}
			}
		}
	}
	c, err := s.Visits.Capacity(ctx, time.Now(), slots)
	return CapacityOf(c), err
}

// CapacityOf converts what a number of slots can hold.
func CapacityOf(c visits.Capacity) types.Capacity {
	shown := types.Capacity{
		Slots: c.Slots, VisitSeconds: c.VisitSeconds, VisitsPerDay: c.VisitsPerDay, Fixed: c.Fixed, Fresh: c.Fresh,
		Kinds: []types.KindCapacity{}, Warnings: append([]string{}, c.Warnings...),
	}
	for _, k := range c.Kinds {
		shown.Kinds = append(shown.Kinds, types.KindCapacity(k))
	}
	return shown
}

// NextOf converts an origin that would be visited next.
func NextOf(n visits.Next) types.NextVisit {
	return types.NextVisit{
		Origin: n.Origin.ID, Kind: n.Origin.Kind, URI: n.Origin.URI, Pool: n.Pool, Class: n.Class, Rate: n.Rate, Value: n.Value,
		Expected: expectedOf(n.Habit), HostGroup: n.HostGroup, HostGap: models.SecondsOf(n.HostGap),
		Overflows: n.Overflows, Missed: n.Missed, MaxLag: models.SecondsOf(n.MaxLag),
	}
}

// putOutcome records the outcome of a visit that was made outside the system. The answer has the reason if the
// outcome was ignored; it is empty if it was recorded.
func (s *server) putOutcome(ctx context.Context, _ *request, o models.Outcome) (recorded types.Recorded, err error) {
	if o.Listed != nil {
		return recorded, fmt.Errorf("outcome: listed: %w: a program that lists origins calls putListedOrigins", fault.ErrForbidden)
	}
	if err := checkOutcome(o); err != nil {
		return recorded, err
	}
	origin, err := s.Catalog.Origin(ctx, o.Origin)
	if err != nil {
		return recorded, err
	}
	if !access.Of(ctx).Roles.Meet(access.Producer) {
		if isClaimed, err := s.isClaimed(ctx, origin, o.Visit); err != nil || !isClaimed {
			return types.Recorded{Ignored: "the visit is not claimed"}, err
		}
	}
	recorded.Ignored, err = coordinator.Record(ctx, s.Catalog, s.Visits, o)
	return recorded, err
}

// checkOutcome refuses an outcome with values out of range with fault.ErrInvalid. The comparisons of floats are negated,
// because NaN must not pass.
func checkOutcome(o models.Outcome) error {
	if o.At.IsZero() || !models.ValidID(o.Origin) {
		return fmt.Errorf("outcome: %w: want an origin's id and the time of its visit", fault.ErrInvalid)
	}
	if len(o.ChangedAt) > models.MaxChanges || o.Items < 0 || o.Changes < 0 || o.Window < 0 || o.New != nil && *o.New < 0 || o.Size < 0 || !(o.Took >= 0 && o.RetryAfter >= 0 && o.FreshFor >= 0) || o.CrawlDelay != nil && !(*o.CrawlDelay >= 0) {
		return fmt.Errorf("outcome: %w: want numbers of 0 or more, and at most %d times of changes", fault.ErrInvalid, models.MaxChanges)
	}
	if err := checkListed(o.Listed); err != nil {
		return fmt.Errorf("outcome: listed: %w", err)
	}
	if o.Skip != nil && !o.Skip.Valid() {
		return fmt.Errorf("outcome: skip: %w: want hours from 0 to 23, and days from Monday to Sunday", fault.ErrInvalid)
	}
	if o.Hub != nil && !o.Hub.Valid() {
		return fmt.Errorf("outcome: hub: %w: want an http(s) url and topic, each of at most 2048 bytes, without a user and a fragment, or neither", fault.ErrInvalid)
	}
	if !slices.Contains([]models.Status{models.Eventful, models.Uneventful, models.Failed, models.NotFound}, o.Status) {
		return fmt.Errorf("outcome: status %.64q: %w: use one of eventful, uneventful, failed and not_found", o.Status, fault.ErrInvalid)
	}
	if !slices.Contains([]models.Fault{"", models.HostFault, models.GoneFault}, o.Fault) {
		return fmt.Errorf("outcome: fault %.64q: %w: use host or gone", o.Fault, fault.ErrInvalid)
	}
	return nil
}

// checkListed refuses a list with values out of range with fault.ErrInvalid; nil is none. Origins that its lister may
// not list pass, because they are left out later.
func checkListed(l *models.Listed) error {
	if l == nil {
		return nil
	}
	if len(l.Origins) > models.MaxListed || l.From < 0 || l.Next < 0 {
		return fmt.Errorf("%w: want at most %d origins, and from and next of 0 or more", fault.ErrInvalid, models.MaxListed)
	}
	for i, n := range l.Origins {
		if !n.Kind.Known() && !n.Kind.IsProgram() {
			return fmt.Errorf("origin %d: kind %.64q: %w: want 1 to 32 of a-z 0-9 _ -, the first a letter", i, n.Kind, fault.ErrInvalid)
		}
	}
	return nil
}

// isClaimed reports whether a program has claimed a visit of an origin and not reported it. Its id, which is random,
// proves that: only the claimant and readers learn ids of the visits of programs, and readers report nothing.
func (s *server) isClaimed(ctx context.Context, origin models.Origin, visit string) (bool, error) {
	if !origin.Kind.IsProgram() || visit == "" {
		return false, nil
	}
	o, err := s.Visits.Schedule(ctx, time.Now(), origin.ID)
	return o.Visit == visit, err
}

func (s *server) getSchedule(ctx context.Context, q *request) (types.Schedule, error) {
	o, err := s.Visits.Schedule(ctx, time.Now(), q.text("origin"))
	return ScheduleOf(o), err
}

func (s *server) tellChanged(ctx context.Context, q *request) (types.Schedule, error) {
	if err := s.Visits.Tell(ctx, time.Now(), q.text("origin")); err != nil {
		return types.Schedule{}, err
	}
	return s.getSchedule(ctx, q)
}

// steer does what an operator asks for (types.Enable and others), and returns the schedule after it.
func (s *server) steer(ctx context.Context, q *request, steering types.Steering) (types.Schedule, error) {
	if err := s.Visits.Steer(ctx, time.Now(), q.text("origin"), steering.Action); err != nil {
		return types.Schedule{}, err
	}
	return s.getSchedule(ctx, q)
}

// expectedOf converts a habit; nil: the origin has none.
func expectedOf(h *schedule.Habit) *types.Expected {
	if h == nil {
		return nil
	}
	return &types.Expected{At: timeOf(h.Next), Within: models.Seconds(h.Spread), Every: models.Seconds(h.Gap)}
}

// ScheduleOf converts the schedule of an origin. Until is set only for an origin that rests
// and is enabled or requested. Times and the target that the store does not have (schedule.Never) are absent.
func ScheduleOf(o visits.OriginSchedule) types.Schedule {
	shown := types.Schedule{
		Origin: o.Origin.ID, Kind: o.Origin.Kind, URI: o.Origin.URI, Why: o.Why, Disabled: string(o.Disabled), Group: schedule.Group(o.State).String(),
		Pool: o.Pool, Class: o.Place.RateClass(), Value: o.Value, Rate: o.Rate, Asked: o.Urgent, Visit: o.Visit, Lister: o.Listed, ForkOf: o.ForkOf, Metadata: o.Metadata,
		FirstSeen: timeOf(o.FirstSeen), LastSeen: timeOf(o.LastSeen), LastUpdate: timeOf(o.LastUpdate),
		LastScheduled: timeOf(o.LastScheduled), LastSuccess: timeOf(o.LastSuccess), Failures: o.Failures, Index: o.Index, Digest: o.LastDigest,
		HostGroup: o.HostGroup, HostGap: models.SecondsOf(o.HostGap), Overflows: o.Overflows, Missed: o.Missed,
		Expected: expectedOf(o.Habit), History: []types.PastVisit{},
	}
	if o.Why != schedule.Eligible && (o.Enabled() || o.Urgent) {
		shown.Until = timeOf(o.Until)
	}
	shown.Every, shown.Hours = models.Seconds(o.Every), o.Hours
	if o.Skip != 0 {
		skip := o.Skip.Skip()
		shown.Skip = &skip
	}
	if h := o.Hub; h != nil {
		shown.Hub = &types.Hub{Hub: h.Hub, Asked: h.Asked, Error: h.Error}
		if h.Until > 0 {
			shown.Hub.Until = timeOf(h.Until)
		}
	}
	if o.Target != schedule.Never {
		shown.Target = &o.Target
	}
	for _, p := range o.History {
		shown.History = append(shown.History, types.PastVisit(p))
	}
	return shown
}

// timeOf converts a time of the schedule's store; schedule.Never is the zero time.
func timeOf(seconds int64) time.Time {
	if seconds == schedule.Never {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
