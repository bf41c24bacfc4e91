package visits_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
)

func TestAHabitIsLearnedFromOutcomesAndKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openAt(t, path, "value", nil)
	list(t, s, noon, visits.Listing{Origins: folders(1)})
	v := claim(t, s, noon, 1)[0]
	o := outcome(v, noon, models.Eventful, "a")
	last := noon.Add(-6 * time.Hour)
	for weeks := range 5 { // the latest first, as feeds have them
		o.ChangedAt = append(o.ChangedAt, last.AddDate(0, 0, -7*weeks))
	}
	o.ChangedAt = append(o.ChangedAt, noon.AddDate(1, 0, 0)) // announced
	record(t, s, noon, o)
	require.NoError(t, s.Close())

	s = openAt(t, path, "value", nil)
	h := look(t, s, noon, v.Origin.ID).Habit
	require.NotNil(t, h)
	require.Equal(t, last.AddDate(0, 0, 7).Unix(), h.Next)
	next, err := s.Next(t.Context(), noon.AddDate(0, 0, 8), 1)
	require.NoError(t, err)
	require.Equal(t, "due", next[0].Pool)
	require.Equal(t, h, next[0].Habit)
}

func TestDatesOfAListerAreCountedUntilASuccess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openAt(t, path, "value", nil)
	origins := folders(1)
	list(t, s, noon, visits.Listing{Origins: origins})
	v := claim(t, s, noon, 1)[0]
	record(t, s, noon, outcome(v, noon, models.Eventful, "a"))
	for days := range 3 {
		at := noon.AddDate(0, 0, 1+days)
		origins[0].Updated = at
		list(t, s, at, visits.Listing{Origins: origins})
	}
	require.NoError(t, s.Close())
	s = openAt(t, path, "value", nil)
	at := noon.AddDate(0, 0, 4)
	require.Equal(t, 3, look(t, s, at, v.Origin.ID).Dates)
	v = claim(t, s, at, 1)[0]
	record(t, s, at, outcome(v, at, models.Uneventful, "a"))
	require.Zero(t, look(t, s, at, v.Origin.ID).Dates)
}
