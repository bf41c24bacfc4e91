package visits

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/catalog/sqldb/sqldbtest"
	"leasehold/shared/process/platform"
	"leasehold/shared/protocol/visit/policy"
)

// BenchmarkVisits claims and records 1,000 visits at a time among 10^3 to 10^6 origins on
// no hosts, 1, 30, 10^4 and 30,000: 10 % of them have dates, 2 % were never visited, rates
// are spread over all classes. claim-40 asks for as many as a few managers have slots for,
// while the hosts of the last claims are still busy. reload is what a start reads.
//
//	go test ./coordinator/visits -run '^$' -bench Visits -benchtime 20x
func BenchmarkVisits(b *testing.B) {
	for _, x := range []struct{ origins, hosts int }{
		{1000, 30}, {100_000, 0}, {100_000, 1}, {100_000, 30}, {100_000, 30_000}, {1_000_000, 0}, {1_000_000, 30}, {1_000_000, 10_000},
	} {
		b.Run(fmt.Sprintf("%d-on-%d-hosts", x.origins, x.hosts), func(b *testing.B) {
			s, now := filled(b, x.origins, x.hosts)
			b.Run("claim-40", func(b *testing.B) {
				median(b, func() {
					now = now.Add(500 * time.Millisecond)
					visits, err := s.Claim(b.Context(), now, 40)
					require.NoError(b, err)
					recordAll(b, s, now, visits)
				})
			})
			b.Run("pick-1000", func(b *testing.B) {
				median(b, func() {
					_, _, err := s.pick(b.Context(), "pick", now, 1000)
					require.NoError(b, err)
				})
			})
			b.Run("claim-record-metrics-1000", func(b *testing.B) { claimAndRecord(b, s, &now) })
			b.Run("reload", func(b *testing.B) {
				median(b, func() { require.NoError(b, s.file.Read(b.Context(), "reload", s.load)) })
				var memory runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&memory)
				b.ReportMetric(float64(memory.Sys)/1e6, "MB-of-Go")
			})
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

// recordAll records an outcome of each visit.
func recordAll(b *testing.B, s *Store, now time.Time, visits []models.Visit) {
	var outcomes []models.Outcome
	for i, v := range visits {
		outcomes = append(outcomes, models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now, Digest: fmt.Sprint(i, now)})
	}
	_, err := s.Record(b.Context(), now, outcomes)
	require.NoError(b, err)
}

func claimAndRecord(b *testing.B, s *Store, now *time.Time) {
	var claims, records, metrics []time.Duration
	claimed := 0
	processor := map[*[]time.Duration]time.Duration{}
	timed := func(to *[]time.Duration, f func()) {
		began, before := time.Now(), platform.ProcessorTime()
		f()
		*to = append(*to, time.Since(began))
		processor[to] += platform.ProcessorTime() - before
	}
	for b.Loop() {
		*now = now.Add(time.Minute)
		var visits []models.Visit
		timed(&claims, func() {
			var err error
			visits, err = s.Claim(b.Context(), *now, 1000)
			require.NoError(b, err)
		})
		claimed += len(visits)
		timed(&records, func() { recordAll(b, s, now.Add(time.Second), visits) })
		timed(&metrics, func() {
			_, err := s.Metrics(b.Context(), *now)
			require.NoError(b, err)
		})
	}
	for name, all := range map[string][]time.Duration{"ms-claim": claims, "ms-record": records, "ms-metrics": metrics} {
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, name)
	}
	b.ReportMetric(float64(claimed)/float64(len(claims)), "claimed")
	b.ReportMetric(float64(processor[&claims].Microseconds())/1000/float64(len(claims)), "ms-processor/claim")
	b.ReportMetric(float64(processor[&records].Microseconds())/1000/float64(len(claims)), "ms-processor/record")
}

// filled is a store of many origins, placed as the value policy would. With hosts, they
// are spread over them in turn.
func filled(b *testing.B, origins, hosts int) (*Store, time.Time) {
	now := time.Now()
	s := openFile(b, filepath.Join(b.TempDir(), "catalog.db"))
	host := "''"
	if hosts > 0 {
		host = fmt.Sprintf("'host' || (i * 31 %% %d)", hosts)
	}
	for first := 1; first <= origins; first += 50_000 { // a transaction has a time limit
		insert(b, s, fmt.Sprintf(`
		WITH RECURSIVE n(i) AS (SELECT %[7]d UNION ALL SELECT i+1 FROM n WHERE i < %[1]d),
		x AS (SELECT i, i %% 50 = 0 AS new, i %% 10 = 0 AS dated, (i * 7919) %% 48 AS class, %[2]d - 1000000 - (i * 104729) %% 8000000 AS at
			FROM (SELECT CAST(i AS bigint) AS i FROM n) AS numbers)
		INSERT INTO schedule (id, kind, uri, host, lister, first_seen, last_seen, created, last_update, last_scheduled, last_visit,
			last_success, last_status, digest, target, idx, failures, disabled, not_before, changes, days, pool, queue, class, ref)
		SELECT 'o' || i, 'media', '/folder/' || i, %[6]s, 1, at, at, NULL,
			CASE WHEN dated THEN at + 1000 END, CASE WHEN NOT new THEN at END, CASE WHEN NOT new THEN at END,
			CASE WHEN NOT new THEN at END, CASE WHEN new THEN '' ELSE 'full' END, 'd', at, 4, 0, '', NULL, exp(class * 0.27) / 4096 * 100, 100,
			CASE WHEN new THEN %[3]d WHEN dated THEN %[4]d ELSE %[5]d END, CASE WHEN dated AND NOT new THEN 1 ELSE 0 END, class, at FROM x ORDER BY i`,
			min(first+49_999, origins), now.Unix(), policy.PoolFirst, policy.PoolSignal, policy.PoolKnown, host, first))
	}
	if hosts > 0 {
		insert(b, s, `UPDATE schedule SET front = 0 WHERE key IN (SELECT key FROM (
			SELECT key, row_number() OVER (PARTITION BY host, pool, queue, class ORDER BY ref, key) AS place FROM schedule WHERE host <> '') AS placed
			WHERE place > 1)`)
	}
	if sqldbtest.OnPostgreSQL(b) {
		insert(b, s, "ANALYZE") // as autovacuum does
	}
	require.NoError(b, s.write(b.Context(), "load", func() error { return nil })) // reads the cache
	return s, now
}

// openFile opens a store whose file is closed with the test.
func openFile(t testing.TB, path string) *Store {
	t.Helper()
	return openWith(t, path, policy.DefaultRules())
}

// openWith is openFile with other rules.
func openWith(t testing.TB, path string, rules policy.Rules) *Store {
	t.Helper()
	s, err := New(t.Context(), openTables(t, path), uniform(t, "value", rules))
	require.NoError(t, err)
	return s
}

// insert writes rows past the store, and has it read its cache again.
func insert(t testing.TB, s *Store, script string) {
	t.Helper()
	require.NoError(t, s.file.Write(t.Context(), "insert", func(c *sqldb.Conn) error {
		s.cache.stale = true
		return c.Script(script)
	}))
}

// uniform is the plan of one policy with the same rules for all types.
func uniform(t testing.TB, name string, rules policy.Rules) *policy.Plan {
	t.Helper()
	plan, err := policy.Uniform(name, rules)
	require.NoError(t, err)
	return plan
}
