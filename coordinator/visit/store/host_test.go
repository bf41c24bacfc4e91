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

// politeStore is a store without gaps and cooldowns, with n origins of one host.
func politeStore(t *testing.T, path string, now time.Time, n int) *Store {
	t.Helper()
	rules := visit.DefaultRules()
	rules.HostGap, rules.Cooldown, rules.HostSlots, rules.HostShare = 0, 0, 100, 1
	s, err := New(t.Context(), openFile(t, path).file, uniform(t, "value", rules))
	require.NoError(t, err)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(n, 1)}))
	return s
}

// visitAll claims the due origins and records an outcome of each.
func visitAll(t *testing.T, s *Store, now time.Time, o models.Outcome) int {
	t.Helper()
	visits, err := s.Claim(t.Context(), now, 100)
	require.NoError(t, err)
	for _, v := range visits {
		o.Visit, o.Origin, o.At = v.ID, v.Origin.ID, now
		_, err := s.Record(t.Context(), now, []models.Outcome{o})
		require.NoError(t, err)
	}
	return len(visits)
}

var noConnection = models.Outcome{Status: models.Failed, Fault: models.HostFault, Error: "dial: refused"}

func TestAHostWithoutConnectionRestsAsAWholeAndItsOriginsDoNotFail(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Truncate(time.Second)
	s := politeStore(t, path, now, 4)
	require.Equal(t, 4, visitAll(t, s, now, noConnection))
	require.Zero(t, visitAll(t, s, now.Add(9*time.Minute), noConnection))
	shown, err := s.Schedule(t.Context(), now, "o0")
	require.NoError(t, err)
	require.Equal(t, visit.Unreachable, shown.Why)
	require.InDelta(t, now.Unix()+630, shown.Until, 31)
	require.Zero(t, shown.Failures)
	require.Equal(t, models.Failed, shown.History[0].Status)

	// The rest doubles, and outlives the process.
	now = now.Add(11 * time.Minute)
	require.Equal(t, 4, visitAll(t, s, now, noConnection))
	require.NoError(t, s.file.Close())
	file, err := sqlfile.Open(t.Context(), path, sqlite.Format(Schema()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	s, err = New(t.Context(), file, uniform(t, "value", s.rules))
	require.NoError(t, err)
	require.Zero(t, visitAll(t, s, now.Add(19*time.Minute), noConnection))

	// An answer of any kind ends it.
	now = now.Add(23 * time.Minute)
	require.Equal(t, 4, visitAll(t, s, now, models.Outcome{Status: models.NotFound}))
	require.Empty(t, s.cache.hosts)
	require.Zero(t, visitAll(t, s, now.Add(47*time.Hour), models.Outcome{}), "each was not found, and rests by itself")
}

func TestTheOriginsOfAHostThatStaysAwayAreDisabled(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	s := politeStore(t, sqlfile.Memory, now, 2)
	visits := 0
	for range 120 * 24 {
		now = now.Add(time.Hour)
		visits += visitAll(t, s, now, noConnection)
	}
	for _, id := range []string{"o0", "o1"} {
		shown, err := s.Schedule(t.Context(), now, id)
		require.NoError(t, err)
		require.Equal(t, visit.ByFailures, shown.Disabled)
	}
	require.Less(t, visits, 60)
}

func TestForceLiftsARetryAfterAndTheRestOfAHost(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	s := politeStore(t, sqlfile.Memory, now, 3)
	require.Equal(t, 3, visitAll(t, s, now, models.Outcome{Status: models.Failed, RetryAfter: 7200}))
	now = now.Add(time.Minute)
	require.NoError(t, s.SaveNow(t.Context(), now, "o1"))
	require.Zero(t, visitAll(t, s, now, noConnection), "a request alone waits for the end")
	shown, err := s.Schedule(t.Context(), now, "o1")
	require.NoError(t, err)
	require.True(t, shown.Urgent)
	require.Equal(t, visit.RetryAfter, shown.Why)
	require.Greater(t, shown.Until, now.Unix())
	require.NoError(t, s.Steer(t.Context(), now, "o1", "force-now"))
	require.Equal(t, 3, visitAll(t, s, now, noConnection), "the other origins are no longer asked to wait either")
	now = now.Add(time.Minute)
	require.Zero(t, visitAll(t, s, now, noConnection))
	require.NoError(t, s.ForceNow(t.Context(), now, "o2"))
	require.Equal(t, 3, visitAll(t, s, now, models.Outcome{Status: models.Eventful, Digest: "a"}))
}

func TestForceVisitsAnOriginThatIsNotDue(t *testing.T) {
	t.Parallel()
	for name, origin := range map[string]models.Origin{
		"of a host": {ID: "o0", Kind: models.Feed, URI: "https://h.example/a"}, "a folder": {ID: "o0", Kind: models.Feed, URI: "/folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now().Truncate(time.Second)
			s, err := New(t.Context(), openFile(t, sqlfile.Memory).file, uniform(t, "value", visit.DefaultRules()))
			require.NoError(t, err)
			require.NoError(t, s.List(t.Context(), now, Listing{Origins: []Named{{Origin: origin}}}))
			require.Equal(t, 1, visitAll(t, s, now, models.Outcome{Status: models.Eventful, Digest: "a"}))
			now = now.Add(time.Minute)
			require.Zero(t, visitAll(t, s, now, models.Outcome{Status: models.Eventful, Digest: "b"}))
			require.NoError(t, s.ForceNow(t.Context(), now, "o0"))
			require.Equal(t, 1, visitAll(t, s, now, models.Outcome{Status: models.Eventful, Digest: "b"}))
		})
	}
}

func TestAnOriginThatIsGoneIsDisabledUntilAUserAddsItAgain(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	s := politeStore(t, sqlfile.Memory, now, 1)
	require.Equal(t, 1, visitAll(t, s, now, models.Outcome{Status: models.NotFound, Fault: models.GoneFault}))
	shown, err := s.Schedule(t.Context(), now, "o0")
	require.NoError(t, err)
	require.Equal(t, visit.ByGone, shown.Disabled)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(1, 1)}))
	require.NoError(t, s.Enable(t.Context(), now, "o0"))
	require.Equal(t, 1, visitAll(t, s, now.Add(time.Hour), models.Outcome{Status: models.Eventful, Digest: "a"}))
}
