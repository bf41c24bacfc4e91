package visits

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

// politeStore is a store without gaps and cooldowns, with n origins of one host.
func politeStore(t *testing.T, path string, now time.Time, n int) *Store {
	t.Helper()
	rules := policy.DefaultRules()
	rules.HostGap, rules.Cooldown, rules.HostSlots, rules.HostShare = 0, 0, 100, 1
	s := openWith(t, path, rules)
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
	require.Equal(t, policy.Unreachable, shown.Why)
	require.InDelta(t, now.Unix()+630, shown.Until, 31)
	require.Zero(t, shown.Failures)
	require.Equal(t, models.Failed, shown.History[0].Status)

	// The rest doubles, and outlives the process.
	now = now.Add(11 * time.Minute)
	require.Equal(t, 4, visitAll(t, s, now, noConnection))
	require.NoError(t, s.file.Close())
	s, err = New(t.Context(), openTables(t, path), uniform(t, "value", s.rules))
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
		require.Equal(t, policy.ByFailures, shown.Disabled)
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
	require.Equal(t, policy.RetryAfter, shown.Why)
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
			s, err := New(t.Context(), openFile(t, sqlfile.Memory).file, uniform(t, "value", policy.DefaultRules()))
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
	require.Equal(t, policy.ByGone, shown.Disabled)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(1, 1)}))
	require.NoError(t, s.Enable(t.Context(), now, "o0"))
	require.Equal(t, 1, visitAll(t, s, now.Add(time.Hour), models.Outcome{Status: models.Eventful, Digest: "a"}))
}

func TestTheRestOfAHostDoublesWithEachFailureAfterIt(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	now := start.Unix()
	s := politeStore(t, sqlfile.Memory, start, 0)
	span := int64(s.rules.DisableSpan / time.Second)
	for name, c := range map[string]struct {
		before   host
		failures int
		since    int64
		rest     int64 // at least; 0: it stays as it was
		ofHost   bool
	}{
		"the first":                     {host{}, 1, now, 600, true},
		"the second":                    {host{failures: 1, since: now - 600, until: now}, 2, now - 600, 1200, true},
		"within the rest":               {host{failures: 1, since: now - 600, until: now + 1}, 1, now - 600, 0, true},
		"within the longest rest":       {host{failures: 1, since: now - 600, until: now + longestWait}, 1, now - 600, 0, true},
		"a rest longer than any":        {host{failures: 1, since: now - 600, until: now + longestWait + 1}, 2, now - 600, 1200, true},
		"a first failure in the future": {host{failures: 1, since: now + 1, until: now}, 2, now, 1200, true},
		"the tenth":                     {host{failures: 9, since: now - 600, until: now}, 10, now - 600, 512 * 600, true},
		"the longest":                   {host{failures: 40, since: now - 600, until: now}, 41, now - 600, longestHostRest, true},
		"almost as long as may be":      {host{failures: 9, since: now - span + 1, until: now}, 10, now - span + 1, 512 * 600, true},
		"for so long that origins fail": {host{failures: 9, since: now - span, until: now}, 10, now - span, 512 * 600, false},
		"it keeps its delay":            {host{gap: 5000}, 1, now, 600, true},
	} {
		require.NoError(t, s.write(t.Context(), "test", func() error {
			require.NoError(t, s.keepHost("h", c.before))
			ofHost, err := s.noteHostFailure("h", now)
			require.Equal(t, c.ofHost, ofHost, name)
			got := s.cache.hosts["h"]
			require.Equal(t, c.failures, got.failures, name)
			require.Equal(t, c.since, got.since, name)
			require.Equal(t, c.before.gap, got.gap, name)
			if c.rest == 0 {
				require.Equal(t, c.before.until, got.until, name)
			} else {
				require.GreaterOrEqual(t, got.until, now+c.rest, name)
				require.Less(t, got.until, now+c.rest*11/10, name)
			}
			return err
		}))
		before := s.cache.hosts["h"]
		insert(t, s, "") // which has the cache read again
		require.NoError(t, s.write(t.Context(), "test", func() error {
			require.Equal(t, before, s.cache.hosts["h"], "%s: it is in the file", name)
			require.NoError(t, s.noteHostAnswer("h"))
			require.Equal(t, host{gap: c.before.gap}, s.cache.hosts["h"], name)
			_, kept := s.cache.hosts["h"]
			require.Equal(t, c.before.gap > 0, kept, "%s: a host without anything to note is forgotten", name)
			return s.keepHost("h", host{})
		}))
	}
}

func TestTheGapOfAGroupIsTheLongestOfItsHosts(t *testing.T) {
	t.Parallel()
	s := planned(t, "value", "host-gap=2s,longest-host-gap=9s")
	var err error
	s.policy.Hosts, err = policy.ParseHostGroups("cast=*.cast.example")
	require.NoError(t, err)
	s.cache.hosts = map[string]host{"a.cast.example": {gap: 3000}, "b.cast.example": {gap: 5000}, "c.cast.example": {failures: 1}, "long": {gap: 60_000}, "short": {gap: 1}}
	s.cache.sumGaps(s.policy.Hosts)
	require.Equal(t, map[string]int64{"group cast": 5000, "long": 60_000, "short": 1}, s.cache.gaps)
	for name, want := range map[string]struct {
		milliseconds int64
		asked        bool
		group        string
		shown        time.Duration
	}{
		"group cast": {5000, true, "cast", 5 * time.Second}, "long": {9000, true, "", 9 * time.Second}, "short": {2000, true, "", 2 * time.Second}, "other": {2000, false, "", 0},
	} {
		milliseconds, asked := s.gap(name)
		require.Equal(t, want.milliseconds, milliseconds, name)
		require.Equal(t, want.asked, asked, name)
		group, shown := s.explainPace(name)
		require.Equal(t, want.group, group, name)
		require.Equal(t, want.shown, shown, name)
	}
}
