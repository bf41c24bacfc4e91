package visits_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

func TestFault21TheClockMayJumpAndNothingIsVisitedTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openAt(t, path, "value", nil)
	list(t, s, noon, visits.Listing{Origins: folders(2)})
	century := noon.Add(100 * 365 * 24 * time.Hour)
	v := claim(t, s, century, 1)
	require.Len(t, v, 1)
	record(t, s, century, outcome(v[0], century, models.Eventful, "a"))
	// Back in the present the other one is visited, and nothing twice for one slot.
	require.Len(t, claim(t, s, noon.Add(24*time.Hour), 2), 1)
	require.Empty(t, claim(t, s, noon.Add(35*time.Hour), 2))
	require.Len(t, claim(t, s, noon.Add(36*time.Hour), 2), 1, "it rests no century")
	require.Empty(t, claim(t, s, noon, 2))
	require.NoError(t, s.Close())
	// What rests for a century is found by the next start, with the true clock.
	s = openAt(t, path, "value", nil)
	claim(t, s, century, 2)
	require.NoError(t, s.Close())
	s = openAt(t, path, "value", nil)
	require.Empty(t, claim(t, s, time.Now(), 2))
	require.Len(t, claim(t, s, time.Now().Add(8*24*time.Hour), 2), 2)
}

func TestAJumpOfTheClockByADayCostsAtMostOneVisitOfEach(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		s := open(t, func(r *policy.Rules) { r.HostGap = 0 })
		list(t, s, noon, visits.Listing{Origins: named("https://a.example/1", "https://b.example/2")})
		visitAll := func(at time.Time) int {
			visits := claim(t, s, at, 10)
			for _, v := range visits {
				record(t, s, at, outcome(v, at, models.Uneventful, "a"))
			}
			return len(visits)
		}
		require.Equal(t, 2, visitAll(noon))
		wrong := noon.Add(time.Minute).Add(jump)
		early := visitAll(wrong)
		require.Zero(t, visitAll(wrong.Add(time.Minute)))
		// The clock is set right: all rest from now at most, and not until tomorrow.
		right := noon.Add(3 * time.Minute)
		require.LessOrEqual(t, early+visitAll(right), 2, "a jump forward ends the rest")
		require.Zero(t, visitAll(right.Add(time.Minute)))
		require.Equal(t, 2, visitAll(right.Add(12*time.Hour)), "%s", jump)
	}
}

func TestAServerWithAWrongClockTeachesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	list(t, s, noon, visits.Listing{Origins: named("https://a.example/1")})
	at := noon
	for i := range 8 {
		o := outcome(claim(t, s, at, 1)[0], at, models.Eventful, fmt.Sprint(i))
		for k := range 9 {
			o.ChangedAt = append(o.ChangedAt, at.AddDate(9, 0, 7*k), at.AddDate(0, 0, 7*k+1)) // years and days ahead
		}
		record(t, s, at, o)
		at = at.Add(36 * time.Hour)
	}
	now := look(t, s, at, models.NewID("https://a.example/1"))
	require.Nil(t, now.Habit)
	require.Less(t, now.Rate, 2.0, "one change for each visit that found one")
	require.LessOrEqual(t, now.LastUpdate, at.Unix())
}
