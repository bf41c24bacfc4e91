package visits_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
)

func TestCapacityNamesTheIntervalsThatFit(t *testing.T) {
	t.Parallel()
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "")
	c, err := s.Capacity(t.Context(), noon, 4)
	require.NoError(t, err)
	require.Zero(t, c.Kinds)
	list(t, s, noon, visits.Listing{Origins: append(folders(30), repositories(10)...)})
	for _, v := range claim(t, s, noon, 40) {
		o := outcome(v, noon, models.Eventful, "a")
		o.Took = 3000
		o.Changes, o.ChangedAt = 1, []time.Time{noon.AddDate(0, 0, -20)}
		record(t, s, noon, o)
	}
	day := models.Seconds(86400)
	_, err = s.db.Catalog.AddOrigin(t.Context(), models.Origin{ID: "fixed", Kind: models.Clips, URI: "/clips", Every: &day})
	require.NoError(t, err)
	c, err = s.Capacity(t.Context(), noon, 1)
	require.NoError(t, err)
	require.InEpsilon(t, 28.8, c.VisitsPerDay, 0.06, "3,000 seconds each")
	require.InDelta(t, 1, c.Fixed, 1e-9)
	require.Len(t, c.Kinds, 2)
	require.Equal(t, models.Feed, c.Kinds[0].Kind)
	require.InDelta(t, 30, c.Kinds[0].Origins, 1e-6)
	require.InDelta(t, 3*c.Kinds[1].Visits, c.Kinds[0].Visits, 1e-3, "all change equally often")
	require.InEpsilon(t, c.VisitsPerDay-1, c.Kinds[0].Visits+c.Kinds[1].Visits, 0.01)
	require.InEpsilon(t, c.Kinds[0].Origins/c.Kinds[0].Visits, c.Kinds[0].Interval, 1e-9)
	require.Greater(t, c.Fresh, 0.9)
	require.Empty(t, c.Warnings)
	more, err := s.Capacity(t.Context(), noon, 2)
	require.NoError(t, err)
	require.Greater(t, more.Fresh, c.Fresh)
}

func TestCapacityWarnsOfPoolsThatGrow(t *testing.T) {
	t.Parallel()
	slow := func(s *opened, at time.Time) { // a visit takes a day
		v := claim(t, s, at, 1)
		o := outcome(v[0], at, models.Eventful, "a")
		o.Took = 86400
		record(t, s, at, o)
	}
	warnings := func(s *opened, at time.Time) string {
		c, err := s.Capacity(t.Context(), at, 1)
		require.NoError(t, err)
		return fmt.Sprint(c.Warnings)
	}
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "")
	list(t, s, noon, visits.Listing{Origins: folders(200)})
	slow(s, noon)
	require.Contains(t, warnings(s, noon.Add(2*time.Hour)), "28 new origins a day", "of those of a week")
	require.Contains(t, warnings(s, noon.Add(2*time.Hour)), "the pool of first visits grows")
	require.NotContains(t, warnings(s, noon.AddDate(0, 0, 8)), "first visits", "none came for a week")
	require.NotContains(t, warnings(s, noon.Add(59*time.Minute)), "first visits", "they have hardly waited")
	hour := models.Seconds(3600)
	_, err := s.db.Catalog.AddOrigin(t.Context(), models.Origin{ID: "fixed", Kind: models.Clips, URI: "/clips", Every: &hour})
	require.NoError(t, err)
	require.Contains(t, warnings(s, noon), "fixed intervals need 24 visits a day and the slots hold 1")
	c, err := s.Capacity(t.Context(), noon, 1)
	require.NoError(t, err)
	require.Len(t, c.Kinds, 1)
	require.Zero(t, c.Kinds[0].Visits, "those with a fixed interval leave none")
	require.Zero(t, c.Kinds[0].Interval)
	require.Zero(t, c.Fresh)

	s = openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "swh2026", "")
	list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}})
	require.NoError(t, s.Disable(t.Context(), noon, "lister"))
	dated := folders(1)
	dated[0].Updated = noon.Add(-time.Hour)
	list(t, s, noon, visits.Listing{Lister: "lister", Origins: append(dated, repositories(50)...)})
	slow(s, noon)
	got := warnings(s, noon)
	require.Contains(t, got, "1 origins of kind feed with dates before their last visit are in a pool without slots")
	require.Contains(t, got, "the intervals of kind git need 25 visits a day and the slots hold 1")
}
