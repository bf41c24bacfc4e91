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
	e.family("leasehold_visit_slots_total", "counter", "Slots that were asked for, and what became of them.")
	e.sample("leasehold_visit_slots_total", float64(m.Asked), "what", "asked")
	e.sample("leasehold_visit_slots_total", float64(m.Granted), "what", "granted")
	e.sample("leasehold_visit_slots_total", float64(m.Urgent), "what", "save-now")
	e.family("leasehold_visit_picks_total", "counter", "Visits by the pool they were picked from, since the start.")
	for _, pool := range slices.Sorted(maps.Keys(m.ByPool)) {
		e.sample("leasehold_visit_picks_total", float64(m.ByPool[pool]), "pool", pool)
	}
	for _, x := range []struct {
		name, kind, help string
		value            float64
	}{
		{"leasehold_visit_deferred_total", "counter", "Candidates that were refused for their host's sake.", float64(m.Deferred)},
		{"leasehold_visit_seconds_total", "counter", "Time that visits took.", m.Seconds},
		{"leasehold_visit_bytes_total", "counter", "Bytes that visits read.", m.Bytes},
		{"leasehold_visit_useless_ratio", "gauge", "Share of successful visits that found nothing new.", ratio(m.Uneventful, m.Eventful+m.Uneventful)},
	} {
		e.family(x.name, x.kind, x.help)
		e.sample(x.name, x.value)
	}
	if m.Position != schedule.Never {
		e.family("leasehold_visit_queue_position", "gauge", "The largest target that was handed out.")
		e.sample("leasehold_visit_queue_position", float64(m.Position))
		e.family("leasehold_visit_drift_seconds", "gauge", "From the queue position to the clock.")
		e.sample("leasehold_visit_drift_seconds", float64(m.Drift))
	}
	return nil
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// exposeGroups shows how many origins there are of each sort. Of listers past the
// bound of series, the sum is "other".
func (e *exposition) exposeGroups(m store.Metrics) {
	sums := map[store.Group]int{}
	listers := map[int32]bool{}
	for _, g := range slices.SortedFunc(maps.Keys(m.Groups), func(a, b store.Group) int { return cmp.Compare(a.Lister, b.Lister) }) {
		n := m.Groups[g]
		if listers[g.Lister] = true; len(listers) > maxSeries/16 {
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
