package visits

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

// grouped is a store without cooldowns, and with feeds at the URLs.
func grouped(t *testing.T, path string, now time.Time, groups string, uris ...string) *Store {
	t.Helper()
	rules := policy.DefaultRules()
	rules.Cooldown, rules.LongestCooldown, rules.HostSlots, rules.HostShare = 0, 0, 2, 1
	plan := uniform(t, "value", rules)
	var err error
	plan.Hosts, err = policy.ParseHostGroups(groups)
	require.NoError(t, err)
	s, err := New(t.Context(), openTables(t, path), plan)
	require.NoError(t, err)
	var list []Named
	for _, uri := range uris {
		list = append(list, Named{Origin: models.Origin{ID: models.NewID(uri), Kind: models.Feed, URI: uri}})
	}
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: list}))
	return s
}

func claims(t *testing.T, s *Store, now time.Time) []models.Visit {
	t.Helper()
	visits, err := s.Claim(t.Context(), now, 10)
	require.NoError(t, err)
	return visits
}

// ends records the end of a visit, which read a Crawl-delay.
func ends(t *testing.T, s *Store, now time.Time, v models.Visit, delay models.Seconds) {
	t.Helper()
	_, err := s.Record(t.Context(), now, []models.Outcome{{
		Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now, Digest: now.String(), CrawlDelay: &delay,
	}})
	require.NoError(t, err)
}

func TestTheCrawlDelayOfAHostCountsFromTheEndOfAVisit(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Truncate(time.Second)
	s := grouped(t, path, now, "", "https://A.example/1", "https://a.example:443/2", "https://a.example/3")
	first := claims(t, s, now)
	require.Len(t, first, 1, "a second between two; the spelling of the host does not matter")
	ends(t, s, now, first[0], 2.5)

	require.Empty(t, claims(t, s, now.Add(2499*time.Millisecond)))
	shown, err := s.Schedule(t.Context(), now.Add(time.Second), first[0].Origin.ID)
	require.NoError(t, err)
	require.Equal(t, 2500*time.Millisecond, shown.HostGap)
	require.Equal(t, gapOfHost, shown.Why)
	due, err := s.Due(t.Context(), now.Add(time.Second))
	require.NoError(t, err)
	require.True(t, due)
	now = now.Add(2500 * time.Millisecond)
	second := claims(t, s, now)
	require.Len(t, second, 1)
	now = now.Add(time.Hour)
	require.Empty(t, claims(t, s, now), "one at a time")
	shown, err = s.Schedule(t.Context(), now, first[0].Origin.ID)
	require.NoError(t, err)
	require.Equal(t, busyHost, shown.Why)
	require.Equal(t, policy.Never, shown.Until, "no time is known")
	ends(t, s, now, second[0], 1e9)

	// It outlives the process, is capped, and ends with the line in robots.txt.
	require.NoError(t, s.file.Close())
	s = grouped(t, path, now, "")
	third := claims(t, s, now)
	require.Len(t, third, 1)
	ends(t, s, now, third[0], 1e9)
	require.Empty(t, claims(t, s, now.Add(5*time.Minute-time.Millisecond)))
	now = now.Add(5 * time.Minute)
	fourth := claims(t, s, now)
	require.Len(t, fourth, 1)
	ends(t, s, now, fourth[0], 0)
	require.Empty(t, s.cache.hosts)
	require.Empty(t, s.cache.gaps)
	require.Len(t, claims(t, s, now.Add(time.Second)), 1)
	require.Len(t, claims(t, s, now.Add(2*time.Second)), 1, "two at a time again")
}

func TestHostsOfAGroupShareOnePoliteness(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Truncate(time.Second)
	uris := []string{"https://a.cast.example/1", "https://b.cast.example/1", "https://c.cast.example/1", "https://other.example/1"}
	s := grouped(t, path, now, "", uris...)
	require.Len(t, claims(t, s, now), 4)
	require.NoError(t, s.file.Close())

	s = grouped(t, path, now, "cast=*.cast.example,cdn=*.cdn.example:*", uris...)
	for _, v := range all(t, s) {
		ends(t, s, now, v, 0)
	}
	now = now.Add(time.Minute)
	visits := claims(t, s, now)
	require.Len(t, visits, 2, "one of the group, and the other host")
	for _, v := range visits {
		shown, err := s.Schedule(t.Context(), now, v.Origin.ID)
		require.NoError(t, err)
		require.Equal(t, v.Origin.URI != uris[3], shown.HostGroup == "cast")
		ends(t, s, now, v, 10)
	}
	require.Empty(t, claims(t, s, now.Add(9*time.Second)))
	require.Len(t, claims(t, s, now.Add(10*time.Second)), 2)

	// A host without a connection does not stop the others of its group.
	now = now.Add(time.Hour)
	for _, v := range all(t, s) {
		o := noConnection
		o.Visit, o.Origin, o.At = v.ID, v.Origin.ID, now
		_, err := s.Record(t.Context(), now, []models.Outcome{o})
		require.NoError(t, err)
	}
	require.Len(t, claims(t, s, now.Add(time.Minute)), 1, "another host of the group")
	require.NoError(t, s.file.Close())

	s = grouped(t, path, now, "")
	require.Len(t, all(t, s), 1)
	require.Len(t, claims(t, s, now.Add(2*time.Minute)), 2, "without the group each host is on its own")
}

// all is the visits under way.
func all(t *testing.T, s *Store) []models.Visit {
	t.Helper()
	visits, err := s.Claimed(t.Context())
	require.NoError(t, err)
	return visits
}

func TestARequestedOriginThatWaitsForItsHostIsShownAsRequested(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Truncate(time.Second)
	s := grouped(t, path, now, "", "https://a.example/1", "https://a.example/2")
	first := claims(t, s, now)
	require.Len(t, first, 1)
	ends(t, s, now, first[0], 60)
	id := first[0].Origin.ID
	require.NoError(t, s.SaveNow(t.Context(), now, id))
	require.Empty(t, claims(t, s, now), "a request waits for the host too")
	shown, err := s.Schedule(t.Context(), now, id)
	require.NoError(t, err)
	require.Equal(t, []any{true, gapOfHost, now.Unix() + 60}, []any{shown.Urgent, shown.Why, shown.Until})
	require.Equal(t, "save-now", shown.Pool)
}
