package visits

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

// claimsInFile counts the rows of the table claim, and the origins in flight in schedule.
func claimsInFile(t *testing.T, s *Store) (claims, rows int) {
	t.Helper()
	require.NoError(t, s.file.Read(t.Context(), "count", func(c *sqldb.Conn) error {
		_, err := c.One("SELECT (SELECT count(*) FROM claim), (SELECT count(*) FROM schedule WHERE pool = 202)", nil, sqldb.Into(&claims, &rows))
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
		require.Equal(t, policy.InFlight, shown.Why)
		require.Equal(t, "in flight", shown.Pool)
	}
	require.Empty(t, s.cache.queues[policy.Queue{Pool: policy.PoolFirst}])
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
	s, err = New(t.Context(), openTables(t, path), uniform(t, "value", s.rules))
	require.NoError(t, err)
	claims, rows := claimsInFile(t, s)
	require.Equal(t, []int{0, 2}, []int{claims, rows})
	requireFronts(t, s)
	under, err := s.Claimed(t.Context())
	require.NoError(t, err)
	require.Equal(t, again, under)
}

func TestAnOriginThatWasChangedSinceItWasPickedIsNotClaimed(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 2)
	picked, busy, err := s.pick(t.Context(), "pick", now, 2)
	require.NoError(t, err)
	require.Len(t, picked, 2)
	require.Zero(t, busy.deferred)
	moved, unknown := picked[0], picked[0]
	moved.Place.Ref++
	unknown.Key = 99
	for _, c := range []struct {
		candidate policy.Candidate
		ok        bool
	}{{moved, false}, {unknown, false}, {picked[0], true}, {picked[0], false}, {picked[1], true}} {
		require.NoError(t, s.write(t.Context(), "claim", func() error {
			claims, left, err := s.claimFirst([]policy.Candidate{c.candidate}, now)
			require.Equal(t, c.ok, len(claims) == 1, "%+v", c)
			require.Empty(t, left)
			return err
		}))
	}
	none, err := s.Next(t.Context(), now, 0)
	require.NoError(t, err)
	require.Empty(t, none)
	claims, rows := claimsInFile(t, s)
	require.Equal(t, []int{2, 0}, []int{claims, rows})
	_, err = s.Claim(t.Context(), now.Add(claimsStay*time.Second), 1)
	require.NoError(t, err)
	claims, rows = claimsInFile(t, s)
	require.Equal(t, []int{2, 0}, []int{claims, rows}, "none is older than it may be")
}

func TestVisitsThatASpaceHasAreNotedOnceAndUnknownOriginsLeftOut(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 3)
	require.NoError(t, s.AdoptInFlight(t.Context(), now, map[string]string{"o0": "v0", "unknown": "v9", "o1": "v1"}))
	later := now.Add(time.Hour)
	require.NoError(t, s.AdoptInFlight(t.Context(), later, map[string]string{"o0": "v0", "o1": "w1"}))
	for id, want := range map[string]struct {
		visit     string
		scheduled int64
	}{"o0": {"v0", now.Unix()}, "o1": {"w1", later.Unix()}, "o2": {"", policy.Never}} {
		o, err := s.Schedule(t.Context(), later, id)
		require.NoError(t, err)
		require.Equal(t, want.visit, o.Visit, id)
		require.Equal(t, want.scheduled, o.LastScheduled, id)
	}
	require.NoError(t, s.AdoptInFlight(t.Context(), now, map[string]string{"o1": "x1"}))
	o, err := s.Schedule(t.Context(), later, "o1")
	require.NoError(t, err)
	require.Equal(t, later.Unix(), o.LastScheduled, "the later time stays")
}

func TestAVisitTellsWhatIsKnownOfItsOrigin(t *testing.T) {
	t.Parallel()
	s := planned(t, "value", "")
	s.cache.dates = map[int32]dates{7: {next: 5}}
	r := row{id: "o", kind: models.Feed, uri: "https://a.example", visit: "v", etag: "e", modified: "m"}
	r.Key, r.LastDigest, r.LastSuccess = 7, "d", policy.Never
	origin := models.Origin{ID: "o", Kind: models.Feed, URI: "https://a.example"}
	want := models.Visit{ID: "v", Origin: origin, Known: models.Known{Digest: "d", ETag: "e", Modified: "m", Next: 5}, HostSlots: 4, LongestGap: 300}
	require.Equal(t, want, s.visitOf(r))
	r.LastSuccess, r.Lister = 77, 3
	want.Listed, want.Known.At = true, time.Unix(77, 0).UTC()
	require.Equal(t, want, s.visitOf(r))
}
