package api

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	schedule "leasehold/coordinator/visit"
	"leasehold/coordinator/visit/store"
)

// exposeVisits shows what the schedule keeps. Its cost does not depend on the
// number of origins.
func (s *server) exposeVisits(ctx context.Context, e *exposition) error {
	if s.Visits == nil {
		return nil
	}
	m, err := s.Visits.Metrics(ctx, time.Now())
	if err != nil {
		return err
	}
	e.exposeGroups(m)
	e.family("leasehold_visits_total", "counter", "Outcomes of visits.")
	for _, x := range []struct {
		outcome string
		n       int64
	}{{"eventful", m.Eventful}, {"uneventful", m.Uneventful}, {"failed", m.Failed}, {"not_found", m.NotFound}, {"lost", m.Lost}, {"ignored", m.Ignored}} {
		e.sample("leasehold_visits_total", float64(x.n), "outcome", x.outcome)
	}
	e.exposeSlots(m)
	e.exposeSpread(m)
	for _, x := range []struct {
		name, kind, help string
		value            float64
	}{
		{"leasehold_visit_deferred_total", "counter", "Candidates that were refused for their host's sake.", float64(m.Deferred)},
		{"leasehold_visit_useless_ratio", "gauge", "Share of successful visits that found nothing new.", ratio(m.Uneventful, m.Eventful+m.Uneventful)},
		{"leasehold_visit_fresh_ratio", "gauge", "Estimated share of enabled origins of which nothing is unseen.", m.Fresh},
		{"leasehold_visit_oldest_new_seconds", "gauge", "Since the oldest enabled origin without an outcome was seen first; 0: none.", float64(m.OldestNew)},
	} {
		e.family(x.name, x.kind, x.help)
		e.sample(x.name, x.value)
	}
	e.family("leasehold_visit_queue_position", "gauge", "The largest target that was handed out, by kind of origin.")
	for _, kind := range slices.Sorted(maps.Keys(m.Position)) {
		e.sample("leasehold_visit_queue_position", float64(m.Position[kind]), "kind", string(kind))
	}
	e.family("leasehold_visit_drift_seconds", "gauge", "From the queue position to the clock, by kind of origin.")
	for _, kind := range slices.Sorted(maps.Keys(m.Drift)) {
		e.sample("leasehold_visit_drift_seconds", float64(m.Drift[kind]), "kind", string(kind))
	}
	return nil
}

// exposeSlots shows who got the slots.
func (e *exposition) exposeSlots(m store.Metrics) {
	e.family("leasehold_visit_slots_total", "counter", "Slots that were asked for, and what became of them.")
	e.sample("leasehold_visit_slots_total", float64(m.Asked), "what", "asked")
	e.sample("leasehold_visit_slots_total", float64(m.Granted), "what", "granted")
	e.sample("leasehold_visit_slots_total", float64(m.Urgent), "what", "save-now")
	for _, x := range []struct {
		name, help, label string
		counts            map[string]int64
	}{
		{"leasehold_visit_shares_total", "Slots by the pools that they were for, since the start.", "pools", m.Shares},
		{"leasehold_visit_picks_total", "Visits by the pool they were picked from, since the start.", "pool", m.Picked},
		{"leasehold_visit_refills_total", "Those of them in slots that other pools had left.", "pool", m.Refilled},
	} {
		e.family(x.name, "counter", x.help)
		for _, pool := range slices.Sorted(maps.Keys(x.counts)) {
			e.sample(x.name, float64(x.counts[pool]), x.label, pool)
		}
	}
}

// exposeSpread shows how times and sizes are spread.
func (e *exposition) exposeSpread(m store.Metrics) {
	for _, x := range []struct {
		name, help string
		store.Summary
	}{
		{"leasehold_visit_seconds", "Time that visits took, since the start.", m.Took},
		{"leasehold_visit_bytes", "Bytes that visits read, since the start.", m.Size},
		{"leasehold_visit_first_seconds", "From when an origin was seen first to its first outcome, since the start.", m.FirstVisit},
		{"leasehold_visit_behind_seconds", "From the last success to a date after it, of origins that have one.", m.Behind},
		{"leasehold_visit_lag_seconds", "Since that date.", m.Lag},
	} {
		e.family(x.name, "summary", x.help)
		for i, level := range store.Levels {
			e.sample(x.name, x.At[i], "quantile", strconv.FormatFloat(level, 'g', -1, 64))
		}
		e.sample(x.name+"_sum", x.Sum)
		e.sample(x.name+"_count", float64(x.Count))
	}
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// maxListers bounds the series of listers.
const maxListers = maxSeries / 16

// exposeGroups shows how many origins there are of each sort. Of listers past the
// bound of series, the sum is "other".
func (e *exposition) exposeGroups(m store.Metrics) {
	sums := map[store.Group]int{}
	listers := map[int32]bool{}
	for _, g := range slices.SortedFunc(maps.Keys(m.Groups), func(a, b store.Group) int { return cmp.Compare(a.Lister, b.Lister) }) {
		n := m.Groups[g]
		if listers[g.Lister] = true; len(listers) > maxListers {
			g.Lister = -1
		}
		sums[g] += n
	}
	e.family("leasehold_visit_origins", "gauge", "Origins by lister (0: by hand, -1: others), kind and group.")
	order := func(a, b store.Group) int {
		return cmp.Or(cmp.Compare(a.Lister, b.Lister), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group), cmp.Compare(strconv.FormatBool(a.Never), strconv.FormatBool(b.Never)))
	}
	for _, g := range slices.SortedFunc(maps.Keys(sums), order) {
		e.sample("leasehold_visit_origins", float64(sums[g]), "lister", strconv.Itoa(int(g.Lister)), "kind", string(g.Kind),
			"group", g.Group, "never", strconv.FormatBool(g.Never))
	}
	active := map[int32]int{}
	for i, lister := range slices.Sorted(maps.Keys(m.Active)) {
		n := m.Active[lister]
		if i >= maxListers {
			lister = -1
		}
		active[lister] += n
	}
	e.family("leasehold_visit_active", "gauge", "Origins whose date came between the last two listings of their lister.")
	for _, lister := range slices.Sorted(maps.Keys(active)) {
		e.sample("leasehold_visit_active", float64(active[lister]), "lister", strconv.Itoa(int(lister)))
	}
	e.family("leasehold_visit_disabled", "gauge", "Origins that are disabled, by whom.")
	for _, reason := range slices.Sorted(maps.Keys(m.Disabled)) {
		e.sample("leasehold_visit_disabled", float64(m.Disabled[reason]), "reason", string(reason))
	}
	e.family("leasehold_visit_waiting", "gauge", "Origins by where they wait.")
	for _, pool := range slices.Sorted(maps.Keys(m.Pools)) {
		e.sample("leasehold_visit_waiting", float64(m.Pools[pool]), "pool", pool)
	}
	e.family("leasehold_visit_rates", "gauge", "Origins that wait, by the changes a day that are expected of them.")
	for class, n := range m.Rates {
		if n > 0 {
			e.sample("leasehold_visit_rates", float64(n), "rate", strconv.FormatFloat(schedule.ClassRate(uint8(class)), 'g', 3, 64))
		}
	}
}
