package visits_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/database"
	"leasehold/coordinator/visits"
	"leasehold/models"
)

// Half of the feeds change hourly and have a lower value than those that change monthly; the slots are too few for all.
func TestWithTooFewSlotsNoFeedWaitsForLongerThanMaxLag(t *testing.T) {
	t.Parallel()
	const days = 160
	longest := func(rules string) (wait float64, shown time.Duration) {
		s := openPlan(t, database.Memory, "value", "now-share=0,feed.cooldown=1h,"+rules)
		feeds, seen := make([]visits.Named, 20), map[string]time.Time{}
		for i := range feeds {
			id := string(rune('a' + i))
			feeds[i].Origin = models.Origin{ID: id, Kind: models.Feed, URI: "https://" + id + ".example/feed"}
		}
		list(t, s, noon, visits.Listing{Origins: feeds})
		for day := range days { // one visit a day
			at := noon.AddDate(0, 0, day)
			next, err := s.Next(t.Context(), at, 1)
			require.NoError(t, err)
			var outcomes []models.Outcome
			for i, v := range claim(t, s, at, 1) {
				require.Equal(t, next[i].Origin.ID, v.Origin.ID)
				shown = max(shown, next[i].MaxLag)
				if was, ok := seen[v.Origin.ID]; ok {
					wait = max(wait, at.Sub(was).Hours()/24)
				}
				seen[v.Origin.ID] = at
				outcomes = append(outcomes, changed(v, at, v.Origin.ID < "k"))
			}
			record(t, s, at, outcomes...)
		}
		for _, was := range seen {
			wait = max(wait, noon.AddDate(0, 0, days).Sub(was).Hours()/24)
		}
		return wait, shown
	}
	with, shown := longest("max-lag=44d")
	require.LessOrEqual(t, with, 56.0, "ten become late in ten days, and half of the slots of twenty days are theirs")
	require.Equal(t, 44*24*time.Hour, shown, "visits next tells it")
	without, shown := longest("max-lag=0")
	require.Greater(t, without, 65.0)
	require.Zero(t, shown)
	tooShort, shown := longest("max-lag=30d")
	require.Equal(t, without, tooShort, "one visit a day is too few")
	require.Zero(t, shown)
}

// changed is an outcome of a feed with the dates of its last changes, at random, and the number of all since its last
// visit: one an hour, or one in 30 days.
func changed(v models.Visit, at time.Time, hourly bool) models.Outcome {
	gap := 30 * 24 * time.Hour
	if hourly {
		gap = time.Hour
	}
	o := outcome(v, at, models.Eventful, at.String())
	for _, part := range []float64{0.1, 1.9, 2.2, 4.8, 5.1, 7.7} {
		o.ChangedAt = append(o.ChangedAt, at.Add(-time.Duration(part*float64(gap))))
	}
	if !v.Known.At.IsZero() {
		o.Changes = int(at.Sub(v.Known.At) / gap)
	}
	return o
}

func TestCapacityWarnsIfMaxLagNeedsTooManyVisits(t *testing.T) {
	t.Parallel()
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "feed.max-lag=1d")
	list(t, s, noon, visits.Listing{Origins: folders(200)})
	v := claim(t, s, noon, 1)
	o := outcome(v[0], noon, models.Eventful, "a")
	o.Took = 864 // a hundred visits a day
	record(t, s, noon, o)
	c, err := s.Capacity(t.Context(), noon, 1)
	require.NoError(t, err)
	require.Contains(t, c.Warnings, "max-lag needs 200 visits a day, more than half of the 100 that the slots hold: origins wait longer")
	c, err = s.Capacity(t.Context(), noon, 5)
	require.NoError(t, err)
	require.Empty(t, c.Warnings)
}
