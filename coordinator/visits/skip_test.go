package visits_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

// skipping opens a store with a folder that was visited at noon, when its feed asked for skip times.
func skipping(t *testing.T, hours models.Hours, skip models.Skip) (s *opened, id string) {
	t.Helper()
	s, ids := openWithHours(t, 1, hours)
	o := models.Outcome{Origin: ids[0], Status: models.Eventful, At: noon, Digest: "a", Skip: &skip}
	record(t, s, noon, o)
	return s, ids[0]
}

func TestAFeedIsNotVisitedInItsSkipHours(t *testing.T) {
	t.Parallel()
	s, id := skipping(t, "any", models.Skip{Hours: []int{13, 14, 16}})
	shown := look(t, s, noon.Add(time.Hour), id)
	require.Equal(t, "skipHours or skipDays of the feed", shown.Why)
	require.Equal(t, noon.Add(3*time.Hour).Unix(), shown.Until)
	require.NoError(t, s.SaveNow(t.Context(), noon.Add(time.Hour), id))
	require.NoError(t, s.Tell(t.Context(), noon.Add(time.Hour), id))
	require.Empty(t, claim(t, s, noon.Add(2*time.Hour), 1))
	at := noon.Add(3 * time.Hour)
	v := claim(t, s, at, 1)
	require.Len(t, v, 1)
	record(t, s, at, outcome(v[0], at, models.Uneventful, "a")) // not sent again, so without its skip times
	require.Empty(t, claim(t, s, noon.Add(4*time.Hour), 1))
	require.NoError(t, s.ForceNow(t.Context(), noon.Add(4*time.Hour), id))
	require.Len(t, claim(t, s, noon.Add(4*time.Hour), 1), 1)
}

func TestSkipTimesThatLeaveNoneOfTheHoursAreIgnored(t *testing.T) {
	t.Parallel()
	s, _ := skipping(t, "13:00-15:00", models.Skip{Hours: []int{13, 14}})
	require.Empty(t, claim(t, s, noon.Add(59*time.Minute), 1))
	require.Len(t, claim(t, s, noon.Add(time.Hour), 1), 1)
}

func TestAFeedThatSkipsDaysIsVisitedOnTheOthers(t *testing.T) {
	t.Parallel()
	var days []string
	for day := time.Sunday; day <= time.Saturday; day++ {
		if day != noon.Weekday() {
			days = append(days, day.String())
		}
	}
	s, id := skipping(t, "any", models.Skip{Hours: []int{0}, Days: days})
	require.Equal(t, noon.Truncate(24*time.Hour).Add(7*24*time.Hour+time.Hour).Unix(), look(t, s, noon.Add(13*time.Hour), id).Until)
	require.Len(t, claim(t, s, noon.Add(7*24*time.Hour), 1), 1)
}
