package visits_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

// openWithHours opens a store with n folders that the operator added with hours. It is 12:00 at noon.
func openWithHours(t *testing.T, n int, hours models.Hours) (s *opened, ids []string) {
	t.Helper()
	s = openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "longest-cooldown=0s")
	all := folders(n)
	for i := range all {
		all[i].Hours = &hours
		ids = append(ids, all[i].ID)
	}
	list(t, s, noon, visits.Listing{Origins: all})
	return s, ids
}

func TestAnOriginIsVisitedWithinItsHoursOnly(t *testing.T) {
	t.Parallel()
	s, ids := openWithHours(t, 3, "13:00-15:00")
	require.Empty(t, claim(t, s, noon, 3))
	shown := look(t, s, noon, ids[0])
	require.Equal(t, "outside its hours", shown.Why)
	require.Equal(t, noon.Add(time.Hour).Unix(), shown.Until)
	require.Equal(t, models.Hours("13:00-15:00@UTC"), shown.Hours)
	wake, err := s.Wake(t.Context(), noon)
	require.NoError(t, err)
	require.Equal(t, noon.Add(time.Hour).Unix(), wake.Unix())

	at := noon.Add(time.Hour)
	for _, v := range claim(t, s, at, 2) {
		record(t, s, at, outcome(v, at, models.Eventful, "a"))
	}
	require.Empty(t, claim(t, s, noon.Add(3*time.Hour), 3), "the one that waits may not be visited after them")
	require.Len(t, claim(t, s, noon.Add(25*time.Hour), 3), 3)
}

func TestARequestWaitsForTheHoursUnlessItIsForced(t *testing.T) {
	t.Parallel()
	s, ids := openWithHours(t, 3, "13:00-15:00")
	require.NoError(t, s.SaveNow(t.Context(), noon, ids[0]))
	require.NoError(t, s.Tell(t.Context(), noon, ids[1]))
	require.NoError(t, s.ForceNow(t.Context(), noon, ids[2]))
	require.Equal(t, policy.Eligible, look(t, s, noon, ids[2]).Why)
	forced := claim(t, s, noon, 3)
	require.Len(t, forced, 1)
	require.Equal(t, ids[2], forced[0].Origin.ID)
	record(t, s, noon, outcome(forced[0], noon, models.Eventful, "a"))
	require.NoError(t, s.SaveNow(t.Context(), noon, ids[2]))
	require.Empty(t, claim(t, s, noon.Add(30*time.Minute), 3), "the force was for one visit")
	require.Len(t, claim(t, s, noon.Add(time.Hour), 3), 3)
}

func TestHoursAreTakenBack(t *testing.T) {
	t.Parallel()
	s, ids := openWithHours(t, 1, "13:00-15:00")
	hours := models.AnyHours
	require.NoError(t, s.Set(t.Context(), noon, ids[0], models.Visiting{Hours: &hours}))
	require.Len(t, claim(t, s, noon, 1), 1)
}

func TestBadHoursChangeNothing(t *testing.T) {
	t.Parallel()
	s, ids := openWithHours(t, 1, "13:00-15:00")
	for _, bad := range []models.Hours{"", "13-15", "13:00-15:00@Nowhere"} {
		require.ErrorContains(t, s.Set(t.Context(), noon, ids[0], models.Visiting{Hours: &bad}), "want")
	}
	every := models.Seconds(1)
	require.ErrorContains(t, s.Set(t.Context(), noon, ids[0], models.Visiting{Every: &every}), models.EveryRule)
	require.Equal(t, models.Hours("13:00-15:00@UTC"), look(t, s, noon, ids[0]).Hours)
}

func TestAllOriginsWhoseHoursAreOverAreFound(t *testing.T) {
	t.Parallel()
	s, _ := openWithHours(t, 300, "11:00-12:30")
	require.Len(t, claim(t, s, noon, 50), 50)
	require.Empty(t, claim(t, s, noon.Add(time.Hour), 300))
	_, err := s.Next(t.Context(), noon.Add(time.Hour), 10)
	require.NoError(t, err)
	require.Len(t, claim(t, s, noon.Add(24*time.Hour), 300), 250)
}
