package visits

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

// askedToWait is a store of four origins of one host, without gaps and cooldowns. The
// first n have answered with a Retry-After.
func askedToWait(t *testing.T, path string, now time.Time, n int, wait models.Seconds) *Store {
	t.Helper()
	s := openFile(t, path)
	rules := policy.DefaultRules()
	rules.HostGap, rules.Cooldown, rules.HostSlots, rules.HostShare = 0, 0, 100, 1
	var err error
	s, err = New(t.Context(), s.file, uniform(t, "value", rules))
	require.NoError(t, err)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(4, 1)}))
	visits, err := s.Claim(t.Context(), now, 10)
	require.NoError(t, err)
	require.Len(t, visits, 4)
	for i, v := range visits {
		o := models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now, Digest: "d"}
		if i < n {
			o = models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Failed, At: now, RetryAfter: wait}
		}
		_, err := s.Record(t.Context(), now, []models.Outcome{o})
		require.NoError(t, err)
	}
	return s
}

func claimable(t *testing.T, s *Store, now time.Time) int {
	t.Helper()
	visits, err := s.Claim(t.Context(), now, 10)
	require.NoError(t, err)
	return len(visits)
}

func TestARetryAfterConcernsTheHostOnlyIfSeveralOriginsAnswerSo(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	one := askedToWait(t, sqlfile.Memory, now, 1, 3600)
	require.Equal(t, 3, claimable(t, one, now.Add(time.Minute)))
	two := askedToWait(t, sqlfile.Memory, now, 2, 3600)
	require.Zero(t, claimable(t, two, now.Add(time.Minute)))
	due, err := two.Due(t.Context(), now.Add(time.Minute))
	require.NoError(t, err)
	require.False(t, due)
	shown, err := two.Schedule(t.Context(), now.Add(time.Minute), "o3")
	require.NoError(t, err)
	require.Equal(t, "Retry-After of its host", shown.Why)
	require.InDelta(t, now.Unix()+3600+180, shown.Until, 180)
	require.Equal(t, 4, claimable(t, two, now.Add(3600*time.Second+360*time.Second)))
}

func TestARetryAfterIsCappedAndNoFailure(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	s := askedToWait(t, sqlfile.Memory, now, 1, 1e9)
	shown, err := s.Schedule(t.Context(), now, "o0")
	require.NoError(t, err)
	require.Equal(t, policy.RetryAfter, shown.Why)
	require.InDelta(t, now.Unix()+86400+4320, shown.Until, 4320, "a day, and at most a tenth more")
	require.Zero(t, shown.Failures)
	require.Equal(t, models.Failed, shown.History[0].Status)
}

func TestTheRetryAfterOfAHostOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Truncate(time.Second)
	first := askedToWait(t, path, now, 2, 3600)
	require.NoError(t, first.file.Close())
	s, err := New(t.Context(), openTables(t, path), uniform(t, "value", first.rules))
	require.NoError(t, err)
	require.Zero(t, claimable(t, s, now.Add(time.Minute)))
	require.Equal(t, 4, claimable(t, s, now.Add(3960*time.Second)))
}

// A fifth of the feeds of a host refuse every visit after their first, as large ones do whose host
// limits them. They must not keep the host from the others, though they change as often.
func TestOriginsThatRefuseEachVisitLeaveTheirHostToOthers(t *testing.T) {
	t.Parallel()
	const origins, refusing = 40, 8
	s := openFile(t, sqlfile.Memory)
	rules := policy.DefaultRules()
	rules.Cooldown, rules.LongestCooldown = 10*time.Minute, 10*time.Minute
	s, err := New(t.Context(), s.file, uniform(t, "value", rules))
	require.NoError(t, err)
	now := time.Now().Truncate(time.Second)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(origins, 1)}))
	var refusers []string
	for i := range refusing {
		refusers = append(refusers, fmt.Sprint("o", i))
	}
	visited := map[string]int{}
	for end := now.Add(6 * time.Hour); now.Before(end); now = now.Add(20 * time.Second) {
		visits, err := s.Claim(t.Context(), now, 4)
		require.NoError(t, err)
		for _, v := range visits {
			visited[v.Origin.ID]++
			o := models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now, Digest: fmt.Sprint(now)}
			if slices.Contains(refusers, v.Origin.ID) && visited[v.Origin.ID] > 1 {
				o = models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Failed, At: now, RetryAfter: 900}
			}
			_, err := s.Record(t.Context(), now, []models.Outcome{o})
			require.NoError(t, err)
		}
	}
	for i := len(refusers); i < origins; i++ {
		require.Greater(t, visited[fmt.Sprint("o", i)], 5, "o%d; all: %v", i, visited)
	}
	for _, o := range refusers {
		require.Less(t, visited[o], 10, "%v", visited)
	}
}
