package visits

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

func (s *Store) mustTrouble(t *testing.T, now time.Time) Trouble {
	t.Helper()
	found, err := s.Trouble(t.Context(), now)
	require.NoError(t, err)
	return found
}

func TestTroubleCountsTheOriginsOfAHostThatCannotBeReached(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	s := politeStore(t, sqlfile.Memory, now, 4)
	require.Equal(t, Trouble{Due: true}, s.mustTrouble(t, now))
	require.Equal(t, 4, visitAll(t, s, now, noConnection))
	require.NoError(t, s.write(t.Context(), "test", func() error {
		return s.db.Exec("UPDATE schedule SET overflows = 3 WHERE id IN ('o1', 'o2')")
	}))
	found := s.mustTrouble(t, now)
	require.False(t, found.Due, "all rest")
	require.Equal(t, 1, found.Resting)
	require.Len(t, found.Hosts, 1)
	h := found.Hosts[0]
	require.Equal(t, HostRest{
		Host: "h0.example", Since: now, Until: h.Until, Failures: h.Failures, Origins: 4, Overflows: 6, Example: "o0",
	}, h)
	require.Positive(t, h.Failures)
	require.InDelta(t, now.Unix()+630, h.Until.Unix(), 31)
	require.NoError(t, s.Disable(t.Context(), now, "o0"))
	require.Equal(t, 3, s.mustTrouble(t, now).Hosts[0].Origins, "a disabled origin does not wait")
	require.Empty(t, s.mustTrouble(t, now).Disabled, "a person has disabled it")
	require.Equal(t, Trouble{Due: true}, s.mustTrouble(t, h.Until), "the rest is over")
	require.NoError(t, s.ForceNow(t.Context(), now, "o1"))
	require.Equal(t, Trouble{Due: true}, s.mustTrouble(t, now), "a forced visit ends the rest")
}

func TestTroubleHasTheHostsThatAskedForARest(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	s := politeStore(t, sqlfile.Memory, now, 3)
	require.Equal(t, 3, visitAll(t, s, now, models.Outcome{Status: models.Failed, RetryAfter: 7200}))
	found := s.mustTrouble(t, now)
	require.Len(t, found.Hosts, 1)
	h := found.Hosts[0]
	require.Zero(t, h.Failures)
	require.True(t, h.Since.IsZero())
	require.Equal(t, 3, h.Origins)
	require.InDelta(t, now.Unix()+7200+360, h.Until.Unix(), 361, "the end varies by a tenth")
}

func TestTroubleListsTheLongestRests(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	s := politeStore(t, sqlfile.Memory, now, 0)
	const n = maxRests + 5
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(n, n)}))
	require.Equal(t, n, visitAll(t, s, now, noConnection))
	found := s.mustTrouble(t, now)
	require.Equal(t, n, found.Resting)
	require.Len(t, found.Hosts, maxRests)
	for i, h := range found.Hosts {
		require.Equal(t, 1, h.Origins, h.Host)
		require.NotEmpty(t, h.Example)
		require.False(t, i > 0 && h.Until.After(found.Hosts[i-1].Until))
	}
}

func TestTroubleCountsDisabledOriginsByReason(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	s := politeStore(t, sqlfile.Memory, now, 3)
	require.Equal(t, 3, visitAll(t, s, now, models.Outcome{Status: models.NotFound, Fault: models.GoneFault}))
	found := s.mustTrouble(t, now).Disabled
	require.Len(t, found, 1)
	require.Equal(t, string(policy.ByGone), found[0].Reason)
	require.Equal(t, 3, found[0].Origins)
	shown, err := s.Schedule(t.Context(), now, found[0].ID)
	require.NoError(t, err)
	require.Equal(t, policy.ByGone, shown.Disabled)
	require.NotEmpty(t, found[0].URI)
	for n := range 3 {
		require.NoError(t, s.Enable(t.Context(), now, fmt.Sprintf("o%d", n)))
	}
	require.Empty(t, s.mustTrouble(t, now).Disabled)
}
