package visits_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

func metrics(t testing.TB, s *opened, at time.Time) visits.Metrics {
	t.Helper()
	m, err := s.Metrics(t.Context(), at)
	require.NoError(t, err)
	return m
}

// upTo returns how many numbers are at most a bound of the distribution.
func upTo(d visits.Distribution, bound float64) uint64 { return d.UpTo[slices.Index(d.Bounds, bound)] }

// remove removes an origin, which need not be in the catalog.
func remove(t testing.TB, s *opened, id string) {
	t.Helper()
	_, err := s.db.Catalog.AddOrigin(t.Context(), models.Origin{ID: id, Kind: models.Feed, URI: id})
	require.NoError(t, err)
	require.NoError(t, s.db.Catalog.RemoveOrigin(t.Context(), id))
}

// What is kept with each change is what a new process counts in the file.
func TestMetricsThatAreKeptAreThoseThatAreCounted(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		path := filepath.Join(t.TempDir(), "catalog.db")
		name := policy.Names[seed%2]
		s := openAt(t, path, name, func(r *policy.Rules) { r.DisableAfter = 2; r.FailedCooldown = time.Hour })
		at := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		d := rand.New(rand.NewPCG(seed, 1))
		list(t, s, at, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}})
		var held []models.Visit
		for range 200 {
			at = at.Add(time.Duration(d.IntN(7200)) * time.Second)
			id := folders(12)[d.IntN(12)].ID
			switch d.IntN(8) {
			case 0:
				some := folders(12)[d.IntN(6) : 6+d.IntN(6)]
				for i := range some {
					some[i].Updated = at.Add(-time.Duration(d.IntN(100)) * time.Hour)
				}
				list(t, s, at, visits.Listing{Lister: "lister", Origins: some, Full: d.IntN(2) == 0})
			case 1:
				_ = s.Disable(t.Context(), at, id)
			case 2:
				_ = s.Enable(t.Context(), at, id)
			case 3:
				_ = s.SaveNow(t.Context(), at, id)
			case 4:
				if d.IntN(10) == 0 {
					remove(t, s, id)
				}
			case 5, 6:
				held = append(held, claim(t, s, at, 3)...)
			default:
				for _, v := range held {
					status := []models.Status{models.Eventful, models.Uneventful, models.Failed, models.Lost}[d.IntN(4)]
					record(t, s, at, outcome(v, at, status, fmt.Sprint(d.IntN(3))))
				}
				held = nil
			}
		}
		at = at.Add(365 * 24 * time.Hour)
		claim(t, s, at, 12) // as the last change, of all: it moves the queue positions
		if seed == 3 {
			remove(t, s, "lister") // what it named has no lister then
		}
		kept := metrics(t, s, at)
		require.NotZero(t, kept.Took.Count)
		require.NoError(t, s.Close())
		counted := metrics(t, openAt(t, path, name, func(r *policy.Rules) { r.DisableAfter = 2; r.FailedCooldown = time.Hour }), at)
		kept.Shares, kept.Picked, kept.Refilled = counted.Shares, counted.Picked, counted.Refilled
		kept.FirstVisit, kept.Took, kept.Size = counted.FirstVisit, counted.Took, counted.Size
		require.InDelta(t, counted.Fresh, kept.Fresh, 1e-9)
		kept.Fresh = counted.Fresh
		require.Equal(t, counted, kept, "seed %d", seed)
	}
}

func TestMetricsOfTimesAndSizes(t *testing.T) {
	t.Parallel()
	s := open(t, func(r *policy.Rules) { r.Cooldown = 0 })
	require.True(t, math.IsNaN(metrics(t, s, noon).Fresh), "no origin exists")
	list(t, s, noon, visits.Listing{Origins: []visits.Named{{Origin: models.Origin{ID: "lister", Kind: models.URLs, URI: "/list"}}}})
	require.NoError(t, s.Disable(t.Context(), noon, "lister"))
	require.Nil(t, metrics(t, s, noon.Add(time.Hour)).OldestNew, "a disabled origin waits for nothing")
	list(t, s, noon, visits.Listing{Lister: "lister", Origins: folders(100)})
	at := noon.Add(time.Hour)
	m := metrics(t, s, at)
	require.EqualValues(t, 3600, *m.OldestNew)
	require.Equal(t, map[policy.Reason]int{policy.ByOperator: 1}, m.Disabled)
	require.Less(t, m.Fresh, 0.01, "nothing was seen yet")
	for i, v := range claim(t, s, at, 100) {
		o := outcome(v, at, models.Eventful, "a")
		o.Took, o.Size = models.Seconds(i+1), int64(1000*(i+1))
		record(t, s, at, o)
	}
	m = metrics(t, s, at)
	require.Nil(t, m.OldestNew)
	require.EqualValues(t, 100, m.Took.Count)
	require.EqualValues(t, 5050, m.Took.Sum)
	require.EqualValues(t, 60, upTo(m.Took, 60))
	require.EqualValues(t, 10, upTo(m.Size, 1e4))
	require.EqualValues(t, 0, upTo(m.FirstVisit, 1800))
	require.EqualValues(t, 100, upTo(m.FirstVisit, 3600))
	require.Greater(t, m.Fresh, 0.99, "all was seen just now")
	require.Less(t, metrics(t, s, at.Add(30*24*time.Hour)).Fresh, 0.8, "and grows old")

	// A date after the last success: behind by what the dates say, and late since.
	dated := folders(100)
	for i := range dated {
		dated[i].Updated = at.Add(time.Duration(i+1) * time.Minute)
	}
	at = at.Add(100 * time.Minute)
	list(t, s, at, visits.Listing{Lister: "lister", Origins: dated})
	m = metrics(t, s, at)
	require.EqualValues(t, []uint64{5, 30, 60}, []uint64{upTo(m.Behind, 300), upTo(m.Behind, 1800), upTo(m.Behind, 3600)})
	require.EqualValues(t, []uint64{6, 31, 61}, []uint64{upTo(m.Lag, 300), upTo(m.Lag, 1800), upTo(m.Lag, 3600)})
	require.Equal(t, 100, m.Active[1])
	list(t, s, at.Add(time.Minute), visits.Listing{Lister: "lister", Origins: dated})
	require.Equal(t, 1, metrics(t, s, at).Active[1], "one date is not older than the listing before")
}

func TestMetricsSayWhoGotWhichSlots(t *testing.T) {
	t.Parallel()
	s := open(t, func(r *policy.Rules) { r.FirstShare, r.KnownShare = 0.2, 0.1 })
	list(t, s, noon, visits.Listing{Origins: folders(10)})
	claim(t, s, noon, 10)
	m := metrics(t, s, noon)
	require.Equal(t, map[string]int64{"first": 2, "known+due+quiet+signal+failing": 1, "first+known+due+quiet+signal+failing": 7}, m.Shares)
	require.Equal(t, map[string]int64{"first": 10}, m.Picked)
	require.Equal(t, map[string]int64{"first": 1}, m.Refilled, "no origin was known")
}
