package visits

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

func TestTheLatestTenOutcomesOfAnOriginAreKept(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(2, 2)}))
	for n := range 25 {
		at := now.Add(time.Duration(n-25) * time.Hour)
		for _, id := range []string{"o0", "o1"} {
			_, err := s.Record(t.Context(), now, []models.Outcome{{Origin: id, Status: models.Eventful, At: at, Digest: fmt.Sprint(n)}})
			require.NoError(t, err)
		}
		shown, err := s.Schedule(t.Context(), now, "o1")
		require.NoError(t, err)
		require.Len(t, shown.History, min(n+1, 10))
		var latest time.Time
		for _, o := range shown.History {
			if o.At.After(latest) {
				latest = o.At
			}
		}
		require.True(t, latest.Equal(at))
	}
}

// With time for all of them, origins that change many times a day are visited as often as their
// cooldown lets them.
func TestCapacityCountsVisitsOfOriginsThatChangeManyTimesADay(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	rules.HostGap, rules.Cooldown, rules.LongestCooldown = 0, 6*time.Hour, 0
	s, err := New(t.Context(), openFile(t, sqlfile.Memory).file, uniform(t, "value", rules))
	require.NoError(t, err)
	now := time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now.AddDate(0, 0, -1), Listing{Origins: hosted(20, 20)}))
	var often []time.Time
	for h := range 48 {
		often = append(often, now.Add(-time.Duration(h)*time.Hour))
	}
	visits, err := s.Claim(t.Context(), now, 20)
	require.NoError(t, err)
	for _, v := range visits {
		_, err := s.Record(t.Context(), now, []models.Outcome{{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now, Digest: "a", Changes: 48, ChangedAt: often, Took: 10}})
		require.NoError(t, err)
	}
	c, err := s.Capacity(t.Context(), now, 1000)
	require.NoError(t, err)
	require.Len(t, c.Kinds, 1)
	require.InDelta(t, 0.25, c.Kinds[0].Interval, 1e-9, "the cooldown")
	require.InDelta(t, 20*4, c.Kinds[0].Visits, 1e-6)
	require.Less(t, c.Fresh, 1.0)
	require.Empty(t, c.Warnings)
}

// Origins that are new and were visited do not wait for a first visit.
func TestNewOriginsThatWereVisitedDoNotMakeThePoolOfFirstVisitsGrow(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	rules.HostGap = 0
	s, err := New(t.Context(), openFile(t, sqlfile.Memory).file, uniform(t, "value", rules))
	require.NoError(t, err)
	now := time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now.Add(-2*time.Hour), Listing{Origins: hosted(50, 50)}))
	require.Equal(t, 50, visitAll(t, s, now.Add(-time.Hour), models.Outcome{Status: models.Eventful, Digest: "a", Took: 80_000}))
	c, err := s.Capacity(t.Context(), now, 1)
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprint(c.Warnings), "first visits")
}

// If one host of a group is down, only its origins fail: the others of the group are visited.
func TestAHostOfAGroupWithoutConnectionIsAFailureOfItsOriginsOnly(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	for groups, failures := range map[string]int{"": 0, "cast=*.cast.com": 1} {
		s := grouped(t, filepath.Join(t.TempDir(), "catalog.db"), now, groups, "https://a.cast.com/1", "https://b.cast.com/2")
		id := models.NewID("https://a.cast.com/1")
		_, err := s.Record(t.Context(), now, []models.Outcome{{Origin: id, At: now, Status: models.Failed, Fault: models.HostFault, Error: "dial: refused"}})
		require.NoError(t, err)
		shown, err := s.Schedule(t.Context(), now, id)
		require.NoError(t, err)
		require.Equal(t, failures, shown.Failures, groups)
		other := claims(t, s, now.Add(10*time.Second))
		require.Len(t, other, 1, groups)
		require.Equal(t, "https://b.cast.com/2", other[0].Origin.URI)
	}
}

// Files of this machine have no host that could be asked too much.
func TestOriginsWithoutAHostAreVisitedAtATimeAsManyAsThereAreSlots(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	var folders []Named
	for i := range 30 {
		folders = append(folders, Named{Origin: models.Origin{ID: fmt.Sprint("f", i), Kind: models.Media, URI: fmt.Sprint("/media/", i)}})
	}
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: folders}))
	for range 3 {
		visits, err := s.Claim(t.Context(), now, 10)
		require.NoError(t, err)
		require.Len(t, visits, 10)
	}
}

// The rate of an origin counts its changes in the time in which they were seen: at the first visit since the oldest
// one, but not since one long before all others.
func TestTheRateOfAnOriginIsItsChangesInTheTimeInWhichTheyWereSeen(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(1, 1)}))
	for visit, want := range []float64{0.5, 0.5} {
		at := now.AddDate(0, 0, -181+180*visit)
		var changes []time.Time
		for n := range 90 {
			changes = append(changes, at.AddDate(0, 0, -2*n))
		}
		changes = append(changes, at.AddDate(-3, 0, 0), at.AddDate(0, 0, 1)) // long before, and in the future
		_, err := s.Record(t.Context(), now, []models.Outcome{{Origin: "o0", Status: models.Eventful, At: at, Digest: fmt.Sprint(visit), ChangedAt: changes}})
		require.NoError(t, err)
		shown, err := s.Schedule(t.Context(), now, "o0")
		require.NoError(t, err)
		require.InEpsilon(t, want, shown.Rate, 0.15, "visit %d", visit)
	}
}
