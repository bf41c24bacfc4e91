package visits

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// maxLost is how many visits in a row an origin may lose and be eligible at once;
// after that it rests as one that was visited.
const maxLost = 3

// Record applies outcomes in the order of the list, and returns their effects in that order. Effect.Ignored is
// the reason why an outcome changed nothing: its origin is unknown, its date is in the future or not newer than
// the last one's, or the visit was lost and has no outcome, so that the origin is eligible again. A visit under
// way ends in each of these cases. Each outcome goes to the catalog in the same transaction, also if the schedule
// has it already, because the catalog may have missed it. If Record fails, some of the outcomes may be recorded;
// recording them again changes nothing.
func (s *Store) Record(ctx context.Context, now time.Time, outcomes []models.Outcome) ([]policy.Effect, error) {
	var effects []policy.Effect
	err := stepThrough(ctx, s, "record outcomes", outcomes, func(o models.Outcome) error {
		s.notify()
		o = storable(o)
		effect, err := s.record(now, o)
		if err != nil {
			return fmt.Errorf("%s: %w", o.Origin, err)
		}
		switch effect.Ignored {
		case "", GivenUp, policy.NotNewer, UnknownOrigin: // the catalog also has origins that are not visited
			if s.catalog == nil {
				break
			}
			movedTo, err := s.catalog.RecordOutcomeIn(s.db, o)
			if err == nil && movedTo != "" {
				err = s.move(o.Origin, movedTo, now)
			}
			if err != nil && !errors.Is(err, fault.ErrNotFound) {
				return fmt.Errorf("%s: %w", o.Origin, err)
			}
		}
		effects = append(effects, effect)
		return nil
	})
	return effects, err
}

// move gives an origin another URI, in the transaction under way. The validators are of the document at the old one.
func (s *Store) move(id, uri string, now time.Time) error {
	if err := s.db.Exec("UPDATE schedule SET uri = ? WHERE id = ?", models.Redact(uri), id); err != nil {
		return err
	}
	return s.edit(id, now.Unix(), func(r *row) {
		r.answered, r.host = "", s.policy.Hosts.Of(hostOf(uri))
		r.etag, r.modified = "", ""
	})
}

// UnknownOrigin is why the outcome of an unknown origin is ignored.
const UnknownOrigin = "unknown origin"

// Why the outcome of a lost visit is ignored: the origin is eligible again; or it
// was lost so often in a row that it rests as one that was visited.
const (
	Lost    = "lost"
	GivenUp = "lost too often"
)

// record applies one outcome, in the transaction under way, and saves the origin. at is the
// present time; the outcome has its own date. The Crawl-delay is kept even if the outcome is
// ignored, because it is the host's. A lost or future outcome only takes back the schedule. For
// any other the policy decides; one that it ignores changes nothing else.
//
// Effect.Ignored is empty, UnknownOrigin, Lost, GivenUp, policy.InFuture or the reason of the policy. The deferred
// call counts the outcome in each case.
func (s *Store) record(at time.Time, o models.Outcome) (effect policy.Effect, err error) {
	now := at.Unix()
	before, ok, err := s.current(o.Origin)
	defer func() { s.countOutcome(before, o, effect) }()
	if err != nil || !ok {
		return policy.Effect{Ignored: UnknownOrigin}, err
	}
	after := before
	s.noteAnswered(&after, o.Answered)
	if o.CrawlDelay != nil {
		if err := s.noteCrawlDelay(after, *o.CrawlDelay); err != nil {
			return effect, err
		}
	}
	ends := o.Visit != "" && o.Visit == before.visit
	if ends {
		after.visit = ""
		s.startHostGap(before.host, at)
		s.startHostGap(after.host, at)
	}
	if o.Status == models.Lost {
		effect.Ignored = Lost
		if before.lost >= maxLost {
			effect.Ignored = GivenUp
		}
		return effect, s.recordLost(before, after, now)
	}
	e := s.eventOf(after, o)
	if e.At > now+int64(s.rulesOf(after.kind).Ahead.Seconds()) {
		return policy.Effect{Ignored: policy.InFuture}, s.recordLost(before, after, now)
	}
	if ends && e.At <= after.LastVisit && e.At >= after.LastVisit-minSpacing {
		e.At = after.LastVisit + 1 // the policy ignores an outcome that is not newer; this one is of another visit
	}
	after.State, effect = s.policy.Record(after.State, e, s.queuePosition(after.kind, now))
	if effect.Ignored == "" {
		if err := s.apply(before, &after, o, e, effect, now); err != nil {
			return effect, err
		}
	}
	return effect, s.save(before, after, now)
}

// noteAnswered notes the server that answered a visit of an origin, as Outcome.Answered names it. Without one, the last
// one stays.
func (s *Store) noteAnswered(r *row, server string) {
	host := hostOf(server)
	if host == "" || len(models.HostOf(server)) > longestHost {
		return
	}
	r.answered = host
	if host == hostOf(r.uri) {
		r.answered = ""
	}
	r.host = s.policy.Hosts.Of(r.hostName())
}

// apply sets in after, and in the memory of hosts, listers and visits, what an outcome shows that
// the policy did not ignore. A failure that was the host's, or came with a Retry-After, does not
// count as one of the origin.
func (s *Store) apply(before row, after *row, o models.Outcome, e policy.Event, effect policy.Effect, now int64) error {
	after.lost = 0
	if before.visit == "" { // a curator came without a visit
		after.Begin(max(after.LastScheduled, e.At))
	}
	if effect.Success {
		after.etag, after.modified = o.ETag, o.Modified
		if o.Skip != nil {
			after.skip, _ = o.Skip.Set()
		}
		if after.Disabled == policy.ByFailures {
			after.Disabled = ""
		}
		s.learn(before, after, e, effect)
		if o.Hub != nil {
			if err := s.noteHub(after.id, *o.Hub, now); err != nil {
				return err
			}
		}
	}
	spared, err := s.noteHostOutcome(*after, o, effect, now)
	if err != nil {
		return err
	}
	refused := e.NotBefore > 0 && !effect.Success
	if refused || spared {
		after.State = policy.AfterRefusal(before.State, after.State)
	}
	s.update().noteRefusal(*after, now)
	return s.remember(before.Key, o, e, effect)
}

// learn records what a success shows about the lister of its origin and about silences, and sets
// the activity of the origin from all silences, with this one. was is the origin before the visit.
func (s *Store) learn(was row, r *row, e policy.Event, effect policy.Effect) {
	rules := s.rulesOf(r.kind)
	s.scoreLister(was, e, effect)
	rules.LearnSilence(&s.update().silences, was.State, e, effect)
	r.Activity = rules.Activity(&s.cache.silences, r.State)
}

// noteHostOutcome notes whether a visit reached its host. spared is true if the visit failed because of the host
// and not of the origin. A host in a group is not counted, because a host without a connection is not the fault
// of the whole group; then each of its origins fails.
func (s *Store) noteHostOutcome(r row, o models.Outcome, effect policy.Effect, now int64) (spared bool, err error) {
	name := r.hostName()
	switch {
	case name == "" || policy.HostGroupName(r.host) != "":
		return false, nil
	case o.Fault == models.HostFault && !effect.Success:
		return s.noteHostFailure(name, now)
	}
	return false, s.noteHostAnswer(name)
}

// startHostGap notes that a visit of a host begins or ends at a time: the next visit of the host
// must wait for the gap from then on. host may be a group; without a host (empty) there is no
// gap.
func (s *Store) startHostGap(host string, at time.Time) {
	if host != "" {
		gap, _ := s.gap(host)
		s.update().gapEnds[host] = at.UnixMilli() + gap
	}
}

// recordLost saves that a visit came to nothing: the origin is eligible again, as if it had not been scheduled.
// After maxLost lost visits in a row LastScheduled stays, so that it rests like one that was visited. was is the
// origin as it was, and r without the visit if the outcome ended it; any other outcome changes nothing.
func (s *Store) recordLost(was, r row, now int64) error {
	if was.visit == "" || r.visit != "" {
		return nil // the outcome of another visit
	}
	if r.lost++; r.lost <= maxLost {
		r.LastScheduled = policy.Never
	}
	if r.Told && r.LastUpdate > r.LastSuccess {
		r.ToldAt = r.LastUpdate // the report that the lost visit was to answer
	}
	return s.save(was, r, now)
}

// queuePosition returns the largest target of a kind that was handed out, or now if none was.
func (s *Store) queuePosition(kind models.OriginKind, now int64) int64 {
	if at, ok := s.cache.position[kind]; ok {
		return at
	}
	return now
}

// eventOf returns an outcome as policies know it. r is the origin before it. An outcome without a digest gets one
// (assumed), since policies compare digests. The end of a Retry-After is later by up to retryJitter. The end of a
// freshness is at most maxRetryAfter away, and counts only for a success.
func (s *Store) eventOf(r row, o models.Outcome) policy.Event {
	e := policy.Event{Status: policy.Failed, At: o.At.Unix(), Digest: o.Digest, Fudge: (2*rand.Float64() - 1) * s.rulesOf(r.kind).Fudge}
	switch o.Status {
	case models.Eventful, models.Uneventful:
		e.Status = policy.Full
		if e.Digest == "" {
			e.Digest = assumed(r.State, o)
		}
		e.Times, e.Window, e.Unmodified = changeTimes(o), o.Window, o.Unmodified
		e.Changes, e.Span = countChanges(r.State, o, e.Digest)
		e.Open = isOpen(r.State, o, e)
		if e.Digest == r.LastDigest {
			e.Times = nil // all dates are new although nothing has changed
		}
	case models.NotFound:
		e.Status = policy.NotFound
		if o.Fault == models.GoneFault {
			e.Status = policy.Gone
		}
	case models.Failed:
	default:
		e.Status = policy.Status(o.Status)
	}
	if o.RetryAfter > 0 {
		e.NotBefore = e.At + int64(float64(min(o.RetryAfter, maxRetryAfter))*(1+retryJitter*rand.Float64()))
	}
	fresh := int64(min(o.FreshFor, maxRetryAfter))
	if o.Status == models.Uneventful && r.FreshUntil != policy.Never && r.LastVisit != policy.Never {
		fresh = max(fresh, r.FreshUntil-r.LastVisit) // a feed that was not sent again has the same ttl
	}
	if fresh > 0 && e.Status == policy.Full {
		e.FreshUntil = e.At + fresh
	}
	return e
}

// minSpacing is within how many seconds two visits may follow each other and still have
// different dates, though dates are whole seconds.
const minSpacing = 10

const (
	// maxRetryAfter limits the Retry-After, in seconds.
	maxRetryAfter = 24 * 3600
	// retryJitter is the largest share by which a Retry-After is lengthened, so that the
	// origins of a host do not all come back at once.
	retryJitter = 0.1
)

// assumed returns a digest for an outcome without one: the digest of the last success if nothing has changed,
// else one that no other outcome has.
func assumed(s policy.State, o models.Outcome) string {
	if o.Status == models.Uneventful && s.LastDigest != "" {
		return s.LastDigest
	}
	return "at " + o.At.UTC().Format(time.RFC3339Nano)
}

// changeTimes are the dates of the changes that an outcome names, ascending, without those
// after the visit.
func changeTimes(o models.Outcome) (times []int64) {
	for _, t := range o.ChangedAt {
		if !t.After(o.At) {
			times = append(times, t.Unix())
		}
	}
	slices.Sort(times)
	return times
}

// scoreLister records whether the dates that a lister gave were right. was is the origin before
// the visit. It does nothing if the origin has no lister, or if its lister has never listed.
func (s *Store) scoreLister(was row, e policy.Event, effect policy.Effect) {
	by := was.DatedBy()
	d, ok := s.cache.dates[by]
	if by == 0 || !ok && by != policy.TellersID {
		return
	}
	d.Dates = s.rulesOf(was.kind).LearnDates(d.Dates, s.quality(by), was.State, e, effect)
	s.update().setDates(by, d)
}

// historyMost is how many outcomes of an origin are kept.
const historyMost = 10

// remember adds an outcome to the history of an origin, in which one of the same second is
// replaced, and removes all but the latest historyMost. The changes of one with Open are all that it saw. The error
// text is redacted and cut to 500 characters.
func (s *Store) remember(key int64, o models.Outcome, e policy.Event, effect policy.Effect) error {
	changes := e.Changes
	if e.Open {
		changes = float64(len(e.Times))
	}
	err := s.db.Exec(`INSERT INTO outcome (origin, at, visit, status, changed, changes, took, size, error)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (origin, at) DO UPDATE SET visit = excluded.visit, status = excluded.status,
		changed = excluded.changed, changes = excluded.changes, took = excluded.took, size = excluded.size, error = excluded.error`,
		key, e.At, o.Visit, o.Status, effect.Changed, changes, float64(o.Took), o.Size, fmt.Sprintf("%.500s", models.Redact(o.Error)))
	if err != nil {
		return err
	}
	return s.db.Exec(`DELETE FROM outcome WHERE origin = ?1 AND at <
		(SELECT at FROM outcome WHERE origin = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)`, key, historyMost-1)
}
