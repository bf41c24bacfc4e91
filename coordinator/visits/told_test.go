package visits_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/catalog/sqldb/sqldbtest"
	"leasehold/shared/protocol/visit/policy"
)

// feeds are named feeds of hosts of their own.
func feeds(hosts ...string) []visits.Named {
	var uris []string
	for _, host := range hosts {
		uris = append(uris, "http://"+host+"/feed")
	}
	return named(uris...)
}

func TestAToldChangeIsVisitedWithinAMinute(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"value", "seed", "swh2026", "legacy", "roundrobin"} {
		s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), name, "cooldown=12h,failed-cooldown=12h")
		list(t, s, noon, visits.Listing{Origins: feeds("a", "b")})
		id := feeds("a")[0].ID
		for _, v := range claim(t, s, noon, 2) {
			record(t, s, noon, outcome(v, noon, models.Eventful, "a"))
		}
		told := noon.Add(20 * time.Second)
		require.NoError(t, s.Tell(t.Context(), told, id))
		require.Equal(t, policy.ToldGap, look(t, s, told, id).Why, name)
		at, err := s.Wake(t.Context(), told)
		require.NoError(t, err)
		require.Equal(t, noon.Add(time.Minute), at.UTC(), name)
		require.Empty(t, claim(t, s, at.Add(-time.Second), 2), name)
		v := claim(t, s, at, 2)
		require.Len(t, v, 1, "%s: the cooldown of the other goes on", name)
		require.Equal(t, id, v[0].Origin.ID)

		// A failure rests, until the next report.
		record(t, s, at, outcome(v[0], at, models.Failed, ""))
		require.Empty(t, claim(t, s, at.Add(time.Hour), 2), name)
		at = at.Add(time.Hour)
		require.NoError(t, s.Tell(t.Context(), at, id))
		require.Len(t, claim(t, s, at, 2), 1, name)
	}
}

func TestReportsWithinTheGapAreOneVisitAtItsEnd(t *testing.T) {
	t.Parallel()
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "feed.told-gap=5m")
	list(t, s, noon, visits.Listing{Origins: feeds("a")})
	id := feeds("a")[0].ID
	digest := "first"
	v := claim(t, s, noon, 1)[0]
	for n := range 4 {
		begun := noon.Add(time.Duration(n) * 5 * time.Minute)
		for report := range 10 { // the first ones while the visit is under way
			at := begun.Add(time.Duration(report) * 10 * time.Second)
			require.NoError(t, s.Tell(t.Context(), at, id))
			if report == 3 {
				digest += "."
				record(t, s, at, outcome(v, begun.Add(time.Second), models.Eventful, digest))
			}
		}
		next := begun.Add(5 * time.Minute)
		require.Empty(t, claim(t, s, next.Add(-time.Second), 1))
		claimed := claim(t, s, next, 1)
		require.Len(t, claimed, 1)
		v = claimed[0]
	}
	record(t, s, noon.Add(21*time.Minute), outcome(v, noon.Add(20*time.Minute+time.Second), models.Eventful, "last"))
	require.Empty(t, claim(t, s, noon.Add(30*time.Minute), 1), "no report came since the last visit began")
}

// A webhook that lies without end costs fewer and fewer visits, and no writes between them.
// changes returns how many rows were changed; 0 in PostgreSQL, which does not count them.
func changes(t *testing.T, s *opened) uint64 {
	t.Helper()
	if sqldbtest.OnPostgreSQL(t) {
		return 0
	}
	n, err := s.db.Changes(t.Context())
	require.NoError(t, err)
	return n
}

func TestFalseReportsLowerTheTrustInThem(t *testing.T) {
	t.Parallel()
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "cooldown=12h")
	list(t, s, noon, visits.Listing{Origins: feeds("liar")})
	liar := feeds("liar")[0].ID
	record(t, s, noon, outcome(claim(t, s, noon, 1)[0], noon, models.Eventful, "same"))
	var begun []time.Duration
	for at := noon.Add(30 * time.Second); at.Before(noon.Add(3 * time.Hour)); at = at.Add(30 * time.Second) {
		require.NoError(t, s.Tell(t.Context(), at, liar))
		before := changes(t, s)
		for range 3 {
			require.NoError(t, s.Tell(t.Context(), at, liar))
		}
		require.Equal(t, before, changes(t, s), "a report before the visit is written once")
		for _, v := range claim(t, s, at, 1) {
			begun = append(begun, at.Sub(noon))
			record(t, s, at, outcome(v, at, models.Uneventful, "same"))
		}
	}
	minutes := func(n int) time.Duration { return time.Duration(n) * time.Minute }
	require.Equal(t, []time.Duration{minutes(1), minutes(3), minutes(7), minutes(15), minutes(31)}, begun[:5])
	require.Len(t, begun, 7)

	// One true report, and the next one is believed at once.
	at := noon.Add(40 * time.Hour)
	record(t, s, at, outcome(claim(t, s, at, 1)[0], at, models.Eventful, "another"))
	require.NoError(t, s.Tell(t.Context(), at.Add(time.Second), liar))
	require.Len(t, claim(t, s, at.Add(time.Minute), 1), 1)
}

func TestADateOfAListerAfterTheLastSuccessEndsTheRest(t *testing.T) {
	t.Parallel()
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "cooldown=12h")
	lister := models.Origin{ID: "lister", Kind: models.URLs, URI: "/lister"}
	list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: lister}}})
	listed := func(at, date time.Time) {
		x := feeds("a")[0]
		x.Updated = date
		list(t, s, at, visits.Listing{Lister: "lister", Origins: []visits.Named{x}})
	}
	listed(noon, noon.Add(-time.Hour))
	visitAll := func(at time.Time) (n int) {
		for _, v := range claim(t, s, at, 5) {
			if v.Origin.ID == "lister" {
				continue
			}
			n++
			record(t, s, at, outcome(v, at, models.Uneventful, "same"))
		}
		return n
	}
	require.Equal(t, 1, visitAll(noon))
	at := noon.Add(10 * time.Minute)
	listed(at, noon.Add(-time.Minute))
	require.Zero(t, visitAll(at), "a date before the last success")
	listed(at, noon.Add(48*time.Hour))
	require.Zero(t, visitAll(at), "a date in the future")
	listed(at, noon.Add(5*time.Minute))
	require.Equal(t, 1, visitAll(at))
	for range 5 {
		at = at.Add(10 * time.Minute)
		listed(at, noon.Add(5*time.Minute))
		require.Zero(t, visitAll(at), "the same date again")
	}
}

func TestAToldChangeWaitsForARetryAfterAndForItsHost(t *testing.T) {
	t.Parallel()
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "")
	list(t, s, noon, visits.Listing{Origins: feeds("a")})
	id := feeds("a")[0].ID
	v := claim(t, s, noon, 1)[0]
	busy := outcome(v, noon, models.Failed, "")
	busy.RetryAfter = 600
	record(t, s, noon, busy)
	require.NoError(t, s.Tell(t.Context(), noon.Add(time.Second), id))
	require.Empty(t, claim(t, s, noon.Add(599*time.Second), 1))
	require.Len(t, claim(t, s, noon.Add(661*time.Second), 1), 1, "with the jitter of a tenth")
}

// Half of the slots go to reported changes at most, so that reports without end do not stop the others.
func TestReportsWithoutEndLeaveHalfOfTheSlotsToOthers(t *testing.T) {
	t.Parallel()
	s := openPlan(t, filepath.Join(t.TempDir(), "catalog.db"), "value", "")
	list(t, s, noon, visits.Listing{Origins: folders(100)})
	for n, x := range folders(100) {
		if n < 50 {
			require.NoError(t, s.Tell(t.Context(), noon, x.ID))
		}
	}
	told := 0
	for range 40 { // one by one
		for _, v := range claim(t, s, noon, 1) {
			if o := look(t, s, noon, v.Origin.ID); o.Told {
				told++
			}
		}
	}
	require.Equal(t, 20, told)
}
