package api

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"leasehold/coordinator/visits"
	"leasehold/shared/process/exposition"
	schedule "leasehold/shared/protocol/visit/policy"
)

// maxListers limits the number of listers with series of their own; each has several.
const maxListers = maxSeries / 16

// otherListers is the label of the listers past maxListers.
const otherListers = -1

// collectVisits collects the metrics of the schedule of visits; none without a schedule. Its cost
// does not depend on the number of origins.
func (s *server) collectVisits(ctx context.Context, to exposition.Sink) error {
	if s.Visits == nil {
		return nil
	}
	m, err := s.Visits.Metrics(ctx, time.Now())
	if err != nil {
		return err
	}
	collectGroups(m, to)
	collectVisitCounts(m, to)
	collectDistributions(m, to)
	collectQueues(m, to)
	return nil
}

// collectVisitCounts collects the counters of outcomes, and of slots by their use and pool.
func collectVisitCounts(m visits.Metrics, to exposition.Sink) {
	for outcome, n := range map[string]int64{
		"eventful": m.Eventful, "uneventful": m.Uneventful, "failed": m.Failed, "not_found": m.NotFound, "lost": m.Lost, "ignored": m.Ignored,
	} {
		to.Counter("leasehold_visits_total", "This counts the outcomes of visits.", float64(n), "outcome", outcome)
	}
	for what, n := range map[string]int64{"asked": m.Asked, "granted": m.Granted, schedule.SaveNow: m.Urgent} {
		to.Counter("leasehold_visit_slots_total", "This counts the slots that managers asked for, and how they were used.", float64(n), "what", what)
	}
	for _, x := range []struct {
		name, help, label string
		counts            map[string]int64
	}{
		{"leasehold_visit_shares_total", "This counts the slots by the pools that they were for, since the coordinator started.", "pools", m.Shares},
		{"leasehold_visit_picks_total", "This counts the visits by the pool they were picked from, since the coordinator started.", "pool", m.Picked},
		{"leasehold_visit_refills_total", "This counts the visits in slots that other pools had left, since the coordinator started.", "pool", m.Refilled},
	} {
		for pool, n := range x.counts {
			to.Counter(x.name, x.help, float64(n), x.label, pool)
		}
	}
	to.Counter("leasehold_visit_overflows_total", "This counts the visits that found that a document had probably lost items unseen.", float64(m.Overflows))
	to.Counter("leasehold_visit_missed_items_total", "This is the estimated number of items that documents lost unseen.", float64(m.Missed))
	to.Counter("leasehold_visit_deferred_total", "This counts the candidates that were refused to limit the visits of their host.", float64(m.Deferred))
}

// collectDistributions collects the histograms of durations, sizes and lags. Those of lags are the state at the scrape,
// and not counts that grow.
func collectDistributions(m visits.Metrics, to exposition.Sink) {
	for _, x := range []struct {
		name, help string
		visits.Distribution
	}{
		{"leasehold_visit_seconds", "This is the duration of visits since the coordinator started.", m.Took},
		{"leasehold_visit_bytes", "This is the number of bytes that a visit read, since the coordinator started.", m.Size},
		{"leasehold_visit_first_seconds", "This is the time from when an origin was first seen to its first outcome, since the coordinator started.", m.FirstVisit},
		{"leasehold_visit_behind_seconds", "This is the time from the last success to a later date of the origin, of the origins that have one at the moment.", m.Behind},
		{"leasehold_visit_lag_seconds", "This is the time since that date, of the origins that have one at the moment.", m.Lag},
	} {
		buckets := map[float64]uint64{}
		for i, bound := range x.Bounds {
			buckets[bound] = x.UpTo[i]
		}
		to.Distribution(x.name, x.help, x.Count, x.Sum, buckets)
	}
}

// collectQueues collects how good the schedule is, and how far the queue of targets has come. A share of nothing is absent.
func collectQueues(m visits.Metrics, to exposition.Sink) {
	if successes := m.Eventful + m.Uneventful; successes > 0 {
		to.Gauge("leasehold_visit_useless_ratio", "This is the share of successful visits that found nothing new.", float64(m.Uneventful)/float64(successes))
	}
	if !math.IsNaN(m.Fresh) {
		to.Gauge("leasehold_visit_fresh_ratio", "This is the estimated share of enabled origins without an unseen change.", m.Fresh)
	}
	if m.OldestNew != nil {
		to.Gauge("leasehold_visit_oldest_new_seconds", "This is the time since the oldest enabled origin without an outcome was first seen; it is absent if there is none.", float64(*m.OldestNew))
	}
	for kind, position := range m.Position {
		to.Gauge("leasehold_visit_queue_position", "This is the largest target that was handed out, by kind of origin.", float64(position), "kind", string(kind))
	}
	for kind, drift := range m.Drift {
		to.Gauge("leasehold_visit_drift_seconds", "This is the time from the queue position to the clock, by kind of origin.", float64(drift), "kind", string(kind))
	}
}

// collectGroups collects how many origins there are of each sort. The listers with the
// smallest numbers, up to maxListers, have series of their own; the others are summed up.
func collectGroups(m visits.Metrics, to exposition.Sink) {
	sums, listers := map[visits.Group]int{}, map[int32]bool{}
	for _, g := range slices.SortedFunc(maps.Keys(m.Groups), func(a, b visits.Group) int { return cmp.Compare(a.Lister, b.Lister) }) {
		n := m.Groups[g]
		listers[g.Lister] = true
		if len(listers) > maxListers {
			g.Lister = otherListers
		}
		sums[g] += n
	}
	for g, n := range sums {
		to.Gauge("leasehold_visit_origins", "This is the number of origins by lister (0: added by hand, -1: other listers), kind and group.", float64(n),
			"lister", strconv.Itoa(int(g.Lister)), "kind", string(g.Kind), "group", g.Group, "never", strconv.FormatBool(g.Never))
	}
	active := map[int32]int{}
	for i, lister := range slices.Sorted(maps.Keys(m.Active)) {
		n := m.Active[lister]
		if i >= maxListers {
			lister = otherListers
		}
		active[lister] += n
	}
	for lister, n := range active {
		to.Gauge("leasehold_visit_active", "This is the number of origins whose date is between the last two listings of their lister.", float64(n), "lister", strconv.Itoa(int(lister)))
	}
	for reason, n := range m.Disabled {
		to.Gauge("leasehold_visit_disabled", "This is the number of disabled origins, by reason.", float64(n), "reason", string(reason))
	}
	for pool, n := range m.Pools {
		to.Gauge("leasehold_visit_waiting", "This is the number of origins by the pool in which they wait.", float64(n), "pool", pool)
	}
	for class, n := range m.Rates {
		if n > 0 {
			to.Gauge("leasehold_visit_rates", "This is the number of origins that wait, by their expected changes a day.", float64(n),
				"rate", strconv.FormatFloat(schedule.ClassRate(uint16(class)), 'g', 3, 64))
		}
	}
}
