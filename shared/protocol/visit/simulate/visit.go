package simulate

import (
	"math"
	"strconv"

	"leasehold/shared/protocol/visit/policy"
)

// visit visits an origin, records the outcome and measures it. A visit after the death of the
// origin counts as dead; a success counts as useless if it found nothing new. The queue positions
// move before, and the world is advanced to now before the outcome is read from it. The lister's
// dates learn from the state before the visit.
func (r *run) visit(key int, now int64) {
	o := &r.origins[key]
	s := &r.states[key]
	r.position = r.policy.Position(r.position, *s)
	s.Begin(now)
	r.meter.visits++
	r.meter.size += float64(o.size)
	if s.LastVisit == policy.Never {
		r.meter.addFirst(now - s.FirstSeen)
	}
	r.advance(o, now)
	before := *s
	e, effect := r.record(key, now)
	switch {
	case now >= o.dies:
		r.meter.dead++
	case effect.Success:
		r.markSeen(o, now)
		if !effect.Changed && before.LastSuccess != policy.Never {
			r.meter.useless++
		}
		if o.dated {
			l := &r.listers[o.lister]
			l.dates = r.rulesOf(o).LearnDates(l.dates, r.quality(int32(o.lister)+1), before, e, effect)
		}
	}
}

// markSeen measures that an origin's changes are seen now: the span in which it had an unseen
// one, from the first, and the delay of each. Then none is unseen.
func (r *run) markSeen(o *origin, now int64) {
	first := true
	for at := range r.unseen.of(&o.unseen) {
		if first {
			r.meter.addUnseen(max(at, start), now)
			first = false
		}
		r.meter.delays.add(now - at)
	}
	r.unseen.clear(&o.unseen)
}

// record draws the outcome of a visit and gives it to the policy, in the order of the store: the
// policy records, a refusal is taken back, a success teaches silences. The outcome depends on the
// origin and the time only, not on earlier draws. Visits before start do not fail, and their
// changes are not measured.
func (r *run) record(key int, now int64) (policy.Event, policy.Effect) {
	o := &r.origins[key]
	g := r.random(forOutcome, int64(key), now)
	e := policy.Event{Status: policy.Full, At: now, Fudge: (2*g.uniform() - 1) * r.rules.Fudge}
	s := &r.states[key]
	outage, down := span{}, false
	if len(r.hosts) > 0 && now >= start {
		outage, down = r.hosts[o.host].outage(now)
	}
	switch {
	case down && outage.refuses:
		e.Status, e.NotBefore = policy.Failed, min(outage.to, now+day)
		r.hosts[o.host].noteRefusal(key, e.NotBefore)
	case down:
		e.Status = policy.Failed
	case now >= o.dies:
		e.Status = policy.NotFound
	case now >= start && g.uniform() < r.FailedRate:
		e.Status = policy.Failed
	default:
		e.Digest = digestOf(o.changes)
		switch {
		case !r.Counts:
		case r.window(key) < math.MaxInt32:
			r.readDocument(key, now, &e)
		default:
			e.Times, e.Changes, e.Span = r.changesCounted(key, now)
		}
		r.countLost(key, now)
		o.seen = o.changes
		if now < start {
			r.unseen.clear(&o.unseen)
		}
	}
	r.addCount(key, -1)
	var effect policy.Effect
	before := *s
	*s, effect = r.policy.Record(before, e, r.position)
	if e.NotBefore > 0 && !effect.Success {
		*s = policy.AfterRefusal(before, *s)
	}
	if !s.Enabled() && !r.tells(o) { // listDue asks those that tell anyway
		r.disabled = append(r.disabled, int32(key))
	}
	if effect.Success {
		rules := r.rulesOf(o)
		rules.LearnSilence(&r.silences, before, e, effect)
		s.Activity = rules.Activity(&r.silences, *s)
	}
	r.addCount(key, 1)
	r.place(key, max(now, start))
	return e, effect
}

// digests are shared, because a digest for each change would take memory of its own.
var digests = func() (all [1 << 12]string) {
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}()

// digestOf returns the digest of an origin's content after so many changes.
func digestOf(changes uint32) string { return digests[changes%uint32(len(digests))] }

// skipLost excepts the changes that have left the document before the start from those that countLost counts, because
// no policy could have seen them.
func (r *run) skipLost(key int) {
	o, window := &r.origins[key], r.window(key)
	if window == math.MaxInt32 {
		return
	}
	r.advance(o, start-1)
	o.seen = uint32(max(int(o.seen), int(o.changes)-window))
}

// countLost counts the changes since the last success that a document does not have any more. The first visit of
// an origin loses none, because nothing was known of it.
func (r *run) countLost(key int, now int64) {
	o := &r.origins[key]
	if now < start || r.states[key].LastSuccess == policy.Never {
		return
	}
	r.meter.lost += max(int(o.changes-o.seen)-r.window(key), 0)
}
