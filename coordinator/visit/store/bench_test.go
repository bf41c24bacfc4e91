package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
	"leasehold/models"
	"leasehold/shared/catalog/sqlite"
	"leasehold/shared/sqlfile"
)

// BenchmarkVisits claims and records 1,000 visits at a time among 10^5 and 10^6
// origins: 10 % of them have dates, 2 % were never visited, rates are spread over
// all classes. pick is the choice alone, also at n=10 and n=100.
func BenchmarkVisits(b *testing.B) {
	for _, origins := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(origins), func(b *testing.B) {
			s, now := filled(b, origins)
			for _, n := range []int{10, 100, 1000} {
				b.Run(fmt.Sprintf("pick-%d", n), func(b *testing.B) {
					median(b, func() {
						picked, _, err := s.pick(b.Context(), "pick", now, n)
						require.NoError(b, err)
						require.Len(b, picked, n)
					})
				})
			}
			b.Run("claim-record-metrics-1000", func(b *testing.B) { claimAndRecord(b, s, &now) })
		})
	}
}

// median reports the median time of f.
func median(b *testing.B, f func()) {
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		f()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
}

func claimAndRecord(b *testing.B, s *Store, now *time.Time) {
	var claims, records, metrics time.Duration
	rounds := 0
	for b.Loop() {
		rounds++
		*now = now.Add(time.Minute)
		began := time.Now()
		visits, err := s.Claim(b.Context(), *now, 1000)
		claims += time.Since(began)
		require.NoError(b, err)
		require.Len(b, visits, 1000)
		var outcomes []models.Outcome
		for i, v := range visits {
			outcomes = append(outcomes, models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now.Add(time.Second), Digest: fmt.Sprint(i, now)})
		}
		began = time.Now()
		_, err = s.Record(b.Context(), now.Add(2*time.Second), outcomes)
		records += time.Since(began)
		require.NoError(b, err)
		began = time.Now()
		_, err = s.Metrics(b.Context(), *now)
		metrics += time.Since(began)
		require.NoError(b, err)
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(rounds) }
	b.ReportMetric(each(claims), "ms-claim")
	b.ReportMetric(each(records), "ms-record")
	b.ReportMetric(each(metrics), "ms-metrics")
}

// filled is a store of many origins, placed as the value policy would.
func filled(b *testing.B, origins int) (*Store, time.Time) {
	now := time.Now()
	s := openFile(b, filepath.Join(b.TempDir(), "catalog.db"))
	const far = visit.Never
	insert(b, s, fmt.Sprintf(`
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %[1]d),
		x AS (SELECT i, i %% 50 = 0 AS new, i %% 10 = 0 AS dated, (i * 7919) %% 48 AS class, %[2]d - 1000000 - (i * 104729) %% 8000000 AS at FROM n)
		INSERT INTO schedule (key, id, kind, uri, host, lister, first_seen, last_seen, created, last_update, last_scheduled, last_visit,
			last_success, last_status, digest, target, idx, failures, disabled, not_before, changes, days, pool, queue, class, ref)
		SELECT i, 'o' || i, 'media', '/folder/' || i, '', 1, at, at, %[3]d, iif(dated, at + 1000, %[3]d), iif(new, %[3]d, at), iif(new, %[3]d, at),
			iif(new, %[3]d, at), iif(new, '', 'full'), 'd', at, 4, 0, '', %[3]d, exp(class * 0.27) / 4096 * 100, 100,
			iif(new, %[4]d, iif(dated, %[5]d, %[6]d)), iif(dated AND NOT new, 1, 0), class, at FROM x`,
		origins, now.Unix(), int64(far), visit.PoolFirst, visit.PoolSignal, visit.PoolKnown))
	return s, now
}

// openFile opens a store whose file is closed with the test.
func openFile(t testing.TB, path string) *Store {
	t.Helper()
	file, err := sqlfile.Open(t.Context(), path, sqlite.Format(Schema()))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	s, err := New(t.Context(), file, "value", visit.DefaultRules())
	require.NoError(t, err)
	return s
}

// insert writes rows past the store, and has it read its cache again.
func insert(t testing.TB, s *Store, script string) {
	t.Helper()
	require.NoError(t, s.file.Write(t.Context(), "insert", func(c *sqlfile.Conn) error {
		s.cache.stale = true
		return c.Script(script)
	}))
}
