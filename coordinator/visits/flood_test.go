package visits

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

// A hundred thousand take a minute under the race detector; make soak has them.
var flood = flag.Int("flood", 1000, "origins that come at once")

// Many origins that come at once do not starve those that are known, and many known
// ones do not starve new ones: each hundred slots give both at least their share,
// until all of the few were visited; also where visits are claimed one by one.
func TestAFloodOfOriginsDoesNotStarveOthers(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name                 string
		flood, few           policy.Pool
		floodShare, fewShare int // of a hundred
		batch                int
	}{
		{"new origins", policy.PoolFirst, policy.PoolKnown, 20, 10, 100},
		{"known origins", policy.PoolKnown, policy.PoolFirst, 10, 20, 100},
		{"new origins, one slot", policy.PoolFirst, policy.PoolKnown, 20, 10, 1},
		{"known origins, one slot", policy.PoolKnown, policy.PoolFirst, 10, 20, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			s := openFile(t, sqlfile.Memory)
			s.policy = planned(t, "value", "first-share=0.2,known-share=0.1").policy
			now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
			fill(t, s, now, *flood, x.flood)
			left := max(x.batch, 20)
			fill(t, s, now, left, x.few)
			for left > 0 {
				now = now.Add(time.Minute)
				few := 0
				for range 100 / x.batch {
					few += serve(t, s, now, x.batch, x.few == policy.PoolFirst)
				}
				require.GreaterOrEqual(t, few, min(left, x.fewShare))
				require.GreaterOrEqual(t, 100-few, x.floodShare)
				left -= few
			}
		})
	}
}

// serve makes n visits, and returns how many were first visits, or others.
func serve(t testing.TB, s *Store, now time.Time, n int, first bool) (count int) {
	t.Helper()
	visits, err := s.Claim(t.Context(), now, n)
	require.NoError(t, err)
	require.Len(t, visits, n)
	outcomes := make([]models.Outcome, n)
	for i, v := range visits {
		if (v.Known.Digest == "") == first {
			count++
		}
		outcomes[i] = models.Outcome{Visit: v.ID, Origin: v.Origin.ID, Status: models.Eventful, At: now, Digest: fmt.Sprint(i)}
	}
	_, err = s.Record(t.Context(), now, outcomes)
	require.NoError(t, err)
	return count
}

// fill adds origins that wait in a pool of the value policy: first or known.
func fill(t testing.TB, s *Store, now time.Time, n int, pool policy.Pool) {
	t.Helper()
	visited, class := "at", "(i * 7919) %% 48"
	if pool == policy.PoolFirst {
		visited, class = "CAST(NULL AS bigint)", fmt.Sprint(policy.ClassOf(1.0/30))
	}
	insert(t, s, fmt.Sprintf(`
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %[1]d),
		x AS (SELECT i, `+class+` AS class, %[2]d - 86400 - (i * 104729) %% 8000000 AS at FROM (SELECT CAST(i AS bigint) AS i FROM n) AS numbers),
		y AS (SELECT i, class, at, `+visited+` AS visited FROM x)
		INSERT INTO schedule (id, kind, uri, host, lister, first_seen, last_seen, created, last_update, last_scheduled, last_visit,
			last_success, last_status, digest, target, idx, failures, disabled, not_before, changes, days, pool, queue, class, ref)
		SELECT '%[3]s' || i, 'media', '/%[3]s/' || i, '', 0, at, at, NULL, NULL, visited, visited, visited, '',
			CASE WHEN visited = at THEN 'd' ELSE '' END, NULL, 4, 0, '', NULL, CASE WHEN visited = at THEN exp(class * 0.27) / 4096 * 100 ELSE 0 END,
			CASE WHEN visited = at THEN 100 ELSE 0 END, %[4]d, 0, class, at FROM y ORDER BY i`,
		n, now.Unix(), pool, pool))
}
