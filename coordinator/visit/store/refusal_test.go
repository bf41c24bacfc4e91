package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/catalog/sqlite"
	"leasehold/shared/sqlfile"
)

// askedToWait is a store of four origins of one host, without gaps and cooldowns. The
// first n have answered with a Retry-After.
func askedToWait(t *testing.T, path string, now time.Time, n int, wait models.Seconds) *Store {
	t.Helper()
	s := openFile(t, path)
	rules := visit.DefaultRules()
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
	require.Equal(t, visit.RetryAfter, shown.Why)
	require.InDelta(t, now.Unix()+86400+4320, shown.Until, 4320, "a day, and at most a tenth more")
	require.Zero(t, shown.Failures)
	require.Equal(t, models.Failed, shown.History[0].Status)
}

func TestTheRetryAfterOfAHostOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Truncate(time.Second)
	first := askedToWait(t, path, now, 2, 3600)
	require.NoError(t, first.file.Close())
	file, err := sqlfile.Open(t.Context(), path, sqlite.Format(Schema()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	s, err := New(t.Context(), file, uniform(t, "value", first.rules))
	require.NoError(t, err)
	require.Zero(t, claimable(t, s, now.Add(time.Minute)))
	require.Equal(t, 4, claimable(t, s, now.Add(3960*time.Second)))
}
