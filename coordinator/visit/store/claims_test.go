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

// claimsInFile counts the rows of the table claim, and the origins in flight in schedule.
func claimsInFile(t *testing.T, s *Store) (claims, rows int) {
	t.Helper()
	require.NoError(t, s.file.Read(t.Context(), "count", func(c *sqlfile.Conn) error {
		_, err := c.One("SELECT (SELECT count(*) FROM claim), (SELECT count(*) FROM schedule WHERE pool = 202)", nil, sqlfile.Into(&claims, &rows))
		return err
	}))
	require.Len(t, s.cache.claims, claims)
	return claims, rows
}

func TestAClaimIsWrittenIntoTheRowOfItsOriginWithTheNextChangeOrAfterAWhile(t *testing.T) {
	t.Parallel()
	now := time.Now().Add(-time.Hour).Truncate(time.Second)
	s := politeStore(t, filepath.Join(t.TempDir(), "catalog.db"), now, 6)
	visits, err := s.Claim(t.Context(), now, 4)
	require.NoError(t, err)
	require.Len(t, visits, 4)
	claims, rows := claimsInFile(t, s)
	require.Equal(t, []int{4, 0}, []int{claims, rows})

	_, err = s.Record(t.Context(), now, []models.Outcome{{Visit: visits[0].ID, Origin: visits[0].Origin.ID, Status: models.Uneventful, At: now}})
	require.NoError(t, err)
	require.NoError(t, s.Tell(t.Context(), now, visits[1].Origin.ID))
	require.NoError(t, s.write(t.Context(), "remove", func() error { return s.OriginRemoved(s.db, visits[2].Origin.ID) }))
	claims, rows = claimsInFile(t, s)
	require.Equal(t, []int{1, 1}, []int{claims, rows})
	requireFronts(t, s)

	now = now.Add((claimsStay + 1) * time.Second)
	more, err := s.Claim(t.Context(), now, 1)
	require.NoError(t, err)
	require.Len(t, more, 1)
	claims, rows = claimsInFile(t, s)
	require.Equal(t, []int{1, 2}, []int{claims, rows}, "the older claim is in the row now")
	requireFronts(t, s)
}

func TestOriginsBehindAClaimedOneOfTheirHostArePicked(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	s := politeStore(t, sqlfile.Memory, now, 5)
	seen := map[string]bool{}
	for range 5 {
		visits, err := s.Claim(t.Context(), now, 1)
		require.NoError(t, err)
		require.Len(t, visits, 1)
		require.False(t, seen[visits[0].Origin.ID])
		seen[visits[0].Origin.ID] = true
		shown, err := s.Schedule(t.Context(), now, visits[0].Origin.ID)
		require.NoError(t, err)
		require.Equal(t, visit.InFlight, shown.Why)
		require.Equal(t, "in flight", shown.Pool)
	}
	require.Empty(t, s.cache.queues[visit.Queue{Pool: visit.PoolFirst}])
}

// A lost visit goes back to the place that the row of its origin still has.
func TestALostVisitIsClaimedAgain(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Truncate(time.Second)
	s := politeStore(t, path, now, 2)
	visits, err := s.Claim(t.Context(), now, 1)
	require.NoError(t, err)
	_, err = s.Record(t.Context(), now, []models.Outcome{{Visit: visits[0].ID, Origin: visits[0].Origin.ID, Status: models.Lost, At: now}})
	require.NoError(t, err)
	requireFronts(t, s)
	again, err := s.Claim(t.Context(), now, 2)
	require.NoError(t, err)
	require.Len(t, again, 2)

	// A start writes all claims into their rows.
	require.NoError(t, s.file.Close())
	file, err := sqlfile.Open(t.Context(), path, sqlite.Format(Schema()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	s, err = New(t.Context(), file, uniform(t, "value", s.rules))
	require.NoError(t, err)
	claims, rows := claimsInFile(t, s)
	require.Equal(t, []int{0, 2}, []int{claims, rows})
	requireFronts(t, s)
	under, err := s.Claimed(t.Context())
	require.NoError(t, err)
	require.Equal(t, again, under)
}
