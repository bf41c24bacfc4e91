package visits

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqldb/sqldbtest"
	"leasehold/shared/protocol/visit/policy"
)

// openNext opens the tables at a path again, as the next owner does; in PostgreSQL while they are still open.
func openNext(t *testing.T, s *Store, path string) *Store {
	t.Helper()
	if sqldbtest.OnPostgreSQL(t) {
		defer s.file.Close()
	} else {
		require.NoError(t, s.file.Close())
	}
	next, err := New(t.Context(), openTables(t, path), s.policy)
	require.NoError(t, err)
	return next
}

// busy does what happens in two days: listings, claims, outcomes of each status, requests, reports and refusals.
func busy(t *testing.T, s *Store, random *rand.Rand, now time.Time) time.Time {
	t.Helper()
	origins := hosted(240, 90)
	lister := Named{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list", Priority: 1}}
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: append([]Named{lister}, origins[:120]...)}))
	require.NoError(t, s.Register(t.Context(), "odd"))
	for step := range 40 {
		now = now.Add(time.Duration(random.IntN(2400)) * time.Second)
		id := origins[random.IntN(120)].ID
		switch random.IntN(6) {
		case 0:
			listed := origins[120 : 121+random.IntN(120)]
			listed[0].Updated = now.Add(-time.Hour)
			require.NoError(t, s.List(t.Context(), now, Listing{Lister: "lister", Visit: fmt.Sprint(step), Full: true, Origins: listed}))
		case 1:
			require.NoError(t, s.SaveNow(t.Context(), now, id))
		case 2:
			require.NoError(t, s.Tell(t.Context(), now, id))
		case 3:
			require.NoError(t, s.Disable(t.Context(), now, id))
		}
		visits, err := s.Claim(t.Context(), now, 1+random.IntN(20))
		require.NoError(t, err)
		var outcomes []models.Outcome
		for n, v := range visits {
			o := models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now, Digest: fmt.Sprint(random.IntN(3)), ETag: "e"}
			switch random.IntN(15) {
			case 0:
				continue // it stays under way
			case 1:
				o.Status, o.RetryAfter = models.Failed, 4000
			case 2:
				o.Status, o.Fault = models.Failed, models.HostFault
			case 3:
				delay := models.Seconds(n)
				o.CrawlDelay, o.ChangedAt = &delay, []time.Time{now.Add(-time.Hour)}
			}
			outcomes = append(outcomes, o)
		}
		_, err = s.Record(t.Context(), now, outcomes)
		require.NoError(t, err)
	}
	return now
}

func TestTheNextOwnerHandsOutWhatTheLastOneWouldHave(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		path := filepath.Join(t.TempDir(), "catalog.db")
		rules := policy.DefaultRules()
		rules.Cooldown = time.Hour
		first := openWith(t, path, rules)
		now := busy(t, first, rand.New(rand.NewPCG(seed, 1)), time.Now().Add(-72*time.Hour).Truncate(time.Second))
		now = now.Add(10 * time.Minute) // the gaps of hosts, which only memory has, are over
		would, err := first.Next(t.Context(), now, 50)
		require.NoError(t, err)
		require.Greater(t, len(would), 10)
		under, err := first.Claimed(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, under)
		was := first.cache

		next := openNext(t, first, path)
		have, err := next.Claimed(t.Context())
		require.NoError(t, err)
		require.Equal(t, under, have)
		is := next.cache
		for _, maps := range [][2]any{
			{was.queues, is.queues}, {was.pools, is.pools}, {was.groups, is.groups}, {was.disabled, is.disabled}, {was.flights, is.flights},
			{was.underWay, is.underWay}, {was.hosts, is.hosts}, {was.gaps, is.gaps}, {was.programs, is.programs}, {was.dates, is.dates},
			{was.position, is.position}, {was.served, is.served}, {was.counts, is.counts}, {was.facts, is.facts}, {was.silences, is.silences},
			{was.sample.states, is.sample.states}, {was.preferred, is.preferred},
		} {
			require.Equal(t, maps[0], maps[1])
		}
		visits, err := next.Claim(t.Context(), now, 50)
		require.NoError(t, err)
		require.Len(t, visits, len(would))
		for n, v := range visits {
			require.Equal(t, would[n].Origin, v.Origin, "seed %d, visit %d", seed, n)
		}
		requireFronts(t, next)
		effects, err := next.Record(t.Context(), now, []models.Outcome{{Visit: under[0].ID, Origin: under[0].Origin.ID, Status: models.Eventful, At: now}})
		require.NoError(t, err)
		require.Empty(t, effects[0].Ignored, "the outcome of a visit that the first one claimed")
	}
}

// The last owner is lost with any statement of a claim.
func TestNoOriginIsClaimedTwiceIfTheOwnerIsLostWhileItClaims(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "catalog.db"), time.Now().Add(-time.Hour).Truncate(time.Second)
	const origins = 10 // which three statements write
	s := politeStore(t, path, now, origins)
	for n := 1; ; n++ {
		now = now.Add(time.Second)
		ctx, failed := sqldb.FailAt(t.Context(), n)
		visits, err := s.Claim(ctx, now, origins)
		if !failed() {
			require.NoError(t, err)
			require.Len(t, visits, origins)
			break
		}
		require.ErrorIs(t, err, sqldb.ErrFailed)
		s = openNext(t, s, path)
		under, err := s.Claimed(t.Context())
		require.NoError(t, err)
		rest, err := s.Claim(t.Context(), now, origins)
		require.NoError(t, err)
		seen := map[string]bool{}
		for _, v := range append(under, rest...) {
			require.False(t, seen[v.Origin.ID], "%s is visited twice", v.Origin.ID)
			seen[v.Origin.ID] = true
		}
		require.Len(t, seen, origins)
		var outcomes []models.Outcome
		for _, v := range append(under, rest...) {
			outcomes = append(outcomes, models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Uneventful, At: now})
		}
		effects, err := s.Record(t.Context(), now, outcomes)
		require.NoError(t, err)
		for _, e := range effects {
			require.Empty(t, e.Ignored, "the outcome of each claim counts")
		}
	}
}
