package api

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"leasehold/coordinator/visits"
	schedule "leasehold/shared/protocol/visit/policy"
)

// maxListers limits the number of listers with series of their own; each has several.
const maxListers = maxSeries / 16

// otherListers is the label of the listers past maxListers.
const otherListers = -1

// collectVisits collects the metrics of the schedule of visits; none without a schedule. Its cost
// does not depend on the number of origins.
func (s *server) collectVisits(ctx context.Context, to sink) error {
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
func collectVisitCounts(m visits.Metrics, to sink) {
	for outcome, n := range map[string]int64{
		"eventful": m.Eventful, "uneventful": m.Uneventful, "failed": m.Failed, "not_found": m.NotFound, "lost": m.Lost, "ignored": m.Ignored,
	} {
		to.counter("leasehold_visits_total", "Outcomes of visits.", float64(n), "outcome", outcome)
	}
	for what, n := range map[string]int64{"asked": m.Asked, "granted": m.Granted, schedule.SaveNow: m.Urgent} {
		to.counter("leasehold_visit_slots_total", "Slots that managers asked for, and how they were used.", float64(n), "what", what)
	}
	for _, x := range []struct {
		name, help, label string
		counts            map[string]int64
	}{
		{"leasehold_visit_shares_total", "Slots by the pools that they were for, since the start.", "pools", m.Shares},
		{"leasehold_visit_picks_total", "Visits by the pool they were picked from, since the start.", "pool", m.Picked},
		{"leasehold_visit_refills_total", "Visits in slots that other pools had left, since the start.", "pool", m.Refilled},
	} {
		for pool, n := range x.counts {
			to.counter(x.name, x.help, float64(n), x.label, pool)
		}
	}
	to.counter("leasehold_visit_overflows_total", "Visits that found that a document had probably lost items unseen.", float64(m.Overflows))
	to.counter("leasehold_visit_missed_items_total", "Estimated number of these items.", float64(m.Missed))
	to.counter("leasehold_visit_deferred_total", "Candidates that were refused to limit the visits of their host.", float64(m.Deferred))
}

// collectDistributions collects the quantiles of durations, sizes and lags.
func collectDistributions(m visits.Metrics, to sink) {
	for _, x := range []struct {
		name, help string
		visits.Summary
	}{
		{"leasehold_visit_seconds", "Duration of visits, since the start.", m.Took},
		{"leasehold_visit_bytes", "Bytes that visits read, since the start.", m.Size},
		{"leasehold_visit_first_seconds", "Time from when an origin was first seen to its first outcome, since the start.", m.FirstVisit},
		{"leasehold_visit_behind_seconds", "Time from the last success to a date after it, of origins that have one.", m.Behind},
		{"leasehold_visit_lag_seconds", "Time since that date.", m.Lag},
	} {
		quantiles := map[float64]float64{}
		for i, level := range visits.Levels {
			quantiles[level] = x.At[i]
		}
		to <- prometheus.MustNewConstSummary(describe(x.name, x.help, nil), uint64(x.Count), x.Sum, quantiles)
	}
}

// collectQueues collects how good the schedule is, and how far the queue of targets has come.
func collectQueues(m visits.Metrics, to sink) {
	useless := 0.0
	if m.Eventful+m.Uneventful > 0 {
		useless = float64(m.Uneventful) / float64(m.Eventful+m.Uneventful)
	}
	to.gauge("leasehold_visit_useless_ratio", "Share of successful visits that found nothing new.", useless)
	to.gauge("leasehold_visit_fresh_ratio", "Estimated share of enabled origins without an unseen change.", m.Fresh)
	to.gauge("leasehold_visit_oldest_new_seconds", "Time since the oldest enabled origin without an outcome was first seen; 0: none.", float64(m.OldestNew))
	for kind, position := range m.Position {
		to.gauge("leasehold_visit_queue_position", "The largest target that was handed out, by kind of origin.", float64(position), "kind", string(kind))
	}
	for kind, drift := range m.Drift {
		to.gauge("leasehold_visit_drift_seconds", "Time from the queue position to the clock, by kind of origin.", float64(drift), "kind", string(kind))
	}
}

// collectGroups collects how many origins there are of each sort. The listers with the
// smallest numbers, up to maxListers, have series of their own; the others are summed up.
func collectGroups(m visits.Metrics, to sink) {
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
		to.gauge("leasehold_visit_origins", "Origins by lister (0: added by hand, -1: other listers), kind and group.", float64(n),
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
		to.gauge("leasehold_visit_active", "Origins whose date is between the last two listings of their lister.", float64(n), "lister", strconv.Itoa(int(lister)))
	}
	for reason, n := range m.Disabled {
		to.gauge("leasehold_visit_disabled", "Origins that are disabled, by reason.", float64(n), "reason", string(reason))
	}
	for pool, n := range m.Pools {
		to.gauge("leasehold_visit_waiting", "Origins by the pool in which they wait.", float64(n), "pool", pool)
	}
	for class, n := range m.Rates {
		if n > 0 {
			to.gauge("leasehold_visit_rates", "Origins that wait, by their expected changes a day.", float64(n),
				"rate", strconv.FormatFloat(schedule.ClassRate(uint16(class)), 'g', 3, 64))
		}
	}
}
