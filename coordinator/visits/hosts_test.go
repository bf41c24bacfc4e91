package visits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

// polite returns the hosts of a pick of ten by a store without origins, after set has changed the
// store.
func polite(t *testing.T, now time.Time, set func(*Store)) *hosts {
	t.Helper()
	s := politeStore(t, sqlfile.Memory, now, 0)
	s.rules.HostSlots, s.rules.HostShare, s.rules.LongestGap = 3, 0.5, time.Minute
	set(s)
	return s.hostsFor(now.UnixMilli(), 10)
}

func TestAHostIsLeftAloneForTheFirstReasonThatApplies(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	now, ms := start.Unix(), start.UnixMilli()
	for name, c := range map[string]struct {
		set   func(*Store)
		batch int // visits of the host in this batch
		want  wait
	}{
		"nothing":                    {func(*Store) {}, 0, wait{}},
		"a Retry-After":              {func(s *Store) { s.cache.refusals["h"] = refusal{hostUntil: now + 1} }, 0, wait{refusedHost, ms + 1000}},
		"a Retry-After that is over": {func(s *Store) { s.cache.refusals["h"] = refusal{hostUntil: now, until: now + 9} }, 0, wait{}},
		"of one origin":              {func(s *Store) { s.cache.refusals["h"] = refusal{until: now + 9} }, 0, wait{}},
		"a rest":                     {func(s *Store) { s.cache.hosts["h"] = host{until: now + 1} }, 0, wait{policy.Unreachable, ms + 1000}},
		"a rest that is over":        {func(s *Store) { s.cache.hosts["h"] = host{until: now} }, 0, wait{}},
		"the longest rest":           {func(s *Store) { s.cache.hosts["h"] = host{until: now + longestWait} }, 0, wait{policy.Unreachable, ms + longestWait*1000}},
		"a rest longer than any":     {func(s *Store) { s.cache.hosts["h"] = host{until: now + longestWait + 1} }, 0, wait{}},
		"its share but one":          {func(s *Store) { s.rules.HostSlots = 100 }, 4, wait{}},
		"its share of the batch":     {func(s *Store) { s.rules.HostSlots = 100 }, 5, wait{busyHost, 0}},
		"its visits but one":         {func(s *Store) { s.cache.flights["h"] = 1 }, 1, wait{}},
		"its visits at a time":       {func(s *Store) { s.cache.flights["h"] = 2 }, 1, wait{busyHost, 0}},
		"one visit, with a delay":    {func(s *Store) { s.cache.gaps["h"], s.cache.flights["h"] = 1, 1 }, 0, wait{busyHost, 0}},
		"no visit, with a delay":     {func(s *Store) { s.cache.gaps["h"] = 1 }, 0, wait{}},
		"a gap":                      {func(s *Store) { s.cache.gapEnds["h"] = ms + 1 }, 0, wait{gapOfHost, ms + 1}},
		"a gap that is over":         {func(s *Store) { s.cache.gapEnds["h"] = ms }, 0, wait{}},
		"a gap longer than any":      {func(s *Store) { s.cache.gapEnds["h"] = ms + 120_001 }, 0, wait{}},
		"a gap a minute longer":      {func(s *Store) { s.cache.gapEnds["h"] = ms + 120_000 }, 0, wait{gapOfHost, ms + 120_000}},
		"the gap within a batch":     {func(s *Store) { s.rules.HostGap = time.Second }, 1, wait{gapOfHost, ms + 1000}},
		"no gap before the first":    {func(s *Store) { s.rules.HostGap = time.Second }, 0, wait{}},
		"a Retry-After and a rest": {func(s *Store) {
			s.cache.refusals["h"], s.cache.hosts["h"] = refusal{hostUntil: now + 5}, host{until: now + 9}
		}, 0, wait{refusedHost, ms + 5000}},
		"a rest and a gap":             {func(s *Store) { s.cache.hosts["h"], s.cache.gapEnds["h"] = host{until: now + 9}, ms+1 }, 0, wait{policy.Unreachable, ms + 9000}},
		"its visits and a gap":         {func(s *Store) { s.cache.flights["h"], s.cache.gapEnds["h"] = 3, ms+1 }, 0, wait{busyHost, 0}},
		"what another host waits for":  {func(s *Store) { s.cache.gapEnds["other"], s.cache.flights["other"] = ms+1, 9 }, 0, wait{}},
		"a delay longer than may be":   {func(s *Store) { s.cache.gaps["h"] = 61_000; s.startHostGap("h", start) }, 0, wait{gapOfHost, ms + 60_000}},
		"a delay shorter than the gap": {func(s *Store) { s.cache.gaps["h"], s.rules.HostGap = 500, time.Second; s.startHostGap("h", start) }, 0, wait{gapOfHost, ms + 1000}},
	} {
		h := polite(t, start, c.set)
		h.batch["h"] = c.batch
		require.Equal(t, c.want, h.waitOf("h"), name)
		require.True(t, h.checkFree(""), "without a host")
		require.Zero(t, h.deferred)
		require.Equal(t, c.want.why == "", h.accept(policy.Candidate{Host: "h"}), name)
		require.Equal(t, c.want.until, h.wake, name)
		require.Equal(t, c.want.why == gapOfHost, h.paced, name)
		if c.want.why == "" {
			require.Equal(t, c.batch+1, h.batch["h"], name)
			require.Zero(t, h.deferred, name)
		} else {
			require.Equal(t, c.batch, h.batch["h"], name)
			require.EqualValues(t, 1, h.deferred, name)
		}
	}
}

func TestAPickWakesWhenTheFirstOfItsBusyHostsMayBeVisited(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	h := polite(t, start, func(s *Store) {
		s.cache.gapEnds["late"], s.cache.gapEnds["early"] = start.UnixMilli()+500, start.UnixMilli()+200
		s.cache.flights["busy"] = 3
	})
	for i, host := range []string{"busy", "late", "early", "late", "busy"} {
		require.False(t, h.checkFree(host))
		require.EqualValues(t, i+1, h.deferred)
		want := []int64{0, 500, 200, 200, 200}[i]
		if want > 0 {
			want += start.UnixMilli()
		}
		require.Equal(t, want, h.wake)
	}
}

func TestASecondOriginThatAsksForAWaitClosesItsHost(t *testing.T) {
	t.Parallel()
	const now = 1_800_000_000
	k := cache{refusals: map[string]refusal{}}
	note := func(key int64, host string, until int64) refusal {
		r := row{host: host}
		r.Key, r.NotBefore = key, until
		k.noteRefusal(r, now)
		return k.refusals[host]
	}
	require.Zero(t, note(1, "", now+60), "it has no host")
	require.Zero(t, note(1, "h", now), "it is over")
	require.Equal(t, refusal{1, now + 1, 0}, note(1, "h", now+1))
	require.Equal(t, refusal{1, now + 60, 0}, note(1, "h", now+60), "the same origin")
	require.Equal(t, refusal{1, now + 60, 0}, note(1, "h", now+50))
	require.Equal(t, refusal{1, now + 60, now + 40}, note(2, "h", now+40), "another one")
	require.Equal(t, refusal{1, now + 60, now + 40}, note(3, "h", now+30))
	require.Equal(t, refusal{1, now + 90, now + 90}, note(3, "h", now+90))
	k.refusals["old"] = refusal{1, now, 0}
	require.Equal(t, refusal{2, now + 5, 0}, note(2, "old", now+5), "that of the first one is over")
	k.refusals["new"] = refusal{1, now + 1, 0}
	require.Equal(t, refusal{1, now + 5, now + 5}, note(2, "new", now+5))
}

func TestEachPoolHasTheNameThatUsersKnow(t *testing.T) {
	t.Parallel()
	for pool, want := range map[policy.Pool]string{
		poolUrgent: policy.SaveNow, poolTold: policy.Told, poolRest: policy.Resting, poolFlight: policy.InFlight, poolProgram: "program", poolOff: policy.Disabled, policy.PoolFirst: policy.PoolFirst.String(),
	} {
		require.Equal(t, want, poolName(pool))
	}
}

// A host is kept only while it has to wait. A gap that ends later than any gap is of a clock that was ahead.
func TestWaitsOfHostsThatAreOverOrOfAWrongClockAreForgotten(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	now, ms := start.Unix(), start.UnixMilli()
	s := politeStore(t, sqlfile.Memory, start, 0)
	for _, rules := range [][2]time.Duration{{time.Minute, time.Second}, {time.Second, time.Minute}} {
		s.rules.HostGap, s.rules.LongestGap = rules[0], rules[1]
		s.cache.gapEnds = map[string]int64{"over": ms, "ends": ms + 1, "longest": ms + 120_000, "longer": ms + 120_001}
		s.cache.refusals = map[string]refusal{"over": {1, now, now}, "origin": {1, now + 1, 0}, "host": {1, now, now + 1}}
		h := s.hostsFor(ms, 0)
		require.Equal(t, map[string]int64{"ends": ms + 1, "longest": ms + 120_000}, s.cache.gapEnds)
		require.Equal(t, map[string]refusal{"origin": {1, now + 1, 0}, "host": {1, now, now + 1}}, s.cache.refusals)
		require.Equal(t, 1, h.most, "one at least")
	}
	s.rules.HostShare = 0.5
	for n, most := range map[int]int{0: 1, 1: 1, 2: 1, 3: 2, 10: 5} {
		require.Equal(t, most, s.hostsFor(ms, n).most, "a batch of %d", n)
	}
}
