package simulate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/visit/policy"
)

// ended returns a run of a scenario at its end.
func ended(t *testing.T, scenario, rules string, days int) *run {
	t.Helper()
	s, err := Parse([]byte(scenario))
	require.NoError(t, err)
	r, err := newRun(Setup{Scenario: s, Policy: "value", Rules: policy.DefaultRules(), OfKinds: rules, Origins: 100, Days: days, Seed: 3})
	require.NoError(t, err)
	for now := start; now < r.end; now += r.tick {
		r.step(now)
	}
	return r
}

// longestWait returns the longest time since the last success of the origins of a kind, in days.
func (r *run) longestWait(kind string) (days float64) {
	for _, s := range r.states {
		if s.Type == kind && s.LastSuccess != policy.Never && s.Failures == 0 {
			days = max(days, float64(r.end-s.LastSuccess)/day)
		}
	}
	return days
}

const twoKinds = `{"name": "kinds", "capacity": 0.2, "spread": 1, "dead": 0, "dying": 0, "new": 0, "failed_rate": 0,
	"kinds": [{"kind": "feed", "share": 0.5, "median_rate": 2, "window": 20}, {"kind": "git", "share": 0.5, "median_rate": 1}]}`

func TestAKindHasItsOwnMaxLagInTheSimulator(t *testing.T) {
	t.Parallel()
	without := ended(t, twoKinds, "max-lag=0", 120)
	require.Greater(t, without.longestWait("feed"), 20.0)
	require.Greater(t, without.longestWait("git"), 25.0)
	with := ended(t, twoKinds, "max-lag=0,git.max-lag=14d", 120)
	require.LessOrEqual(t, with.longestWait("git"), 16.0)
	require.Greater(t, with.longestWait("feed"), 20.0)
}

func TestAKindRestsByItsOwnRestShare(t *testing.T) {
	t.Parallel()
	enough := `{"name": "enough", "capacity": 20, "median_rate": 2, "spread": 0.1, "dead": 0, "dying": 0, "new": 0, "failed_rate": 0,
		"kinds": [{"kind": "feed", "share": 0.5}, {"kind": "git", "share": 0.5}]}`
	visits := func(rules string) float64 {
		return float64(ended(t, enough, rules, 20).meter.visits) / 100 / 20
	}
	require.InDelta(t, 2, visits("cooldown=12h"), 0.2, "one each half day")
	require.Greater(t, visits(""), 15.0, "36 minutes for both, rounded up to an hour")
	require.InDelta(t, 13, visits("git.cooldown=12h"), 1.5, "24 of a feed, and 2 of a repository")
}

func TestAVisitOfAWindowReadsItsLastItems(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(`{"name": "window", "cold": 1, "new": 0, "dead": 0, "median_rate": 2, "spread": 0, "forks": 0, "window": 20}`))
	require.NoError(t, err)
	r, err := newRun(Setup{Scenario: s, Policy: "value", Rules: policy.DefaultRules(), Origins: 50, Days: 100, Seed: 3})
	require.NoError(t, err)
	for key := range r.origins {
		r.listNew(key, start)
		var e policy.Event
		read := func(now int64) policy.Event {
			r.advance(&r.origins[key], now)
			e = policy.Event{Status: policy.Full, At: now, Digest: digestOf(r.origins[key].changes)}
			r.readDocument(key, now, &e)
			require.Len(t, e.Times, 20)
			require.IsIncreasing(t, e.Times)
			require.Equal(t, 20, e.Window)
			r.states[key], _ = r.policy.Record(r.states[key], e, 0)
			r.origins[key].seen = r.origins[key].changes
			r.unseen.clear(&r.origins[key].unseen)
			return e
		}
		first := read(start + 3600)
		require.True(t, first.Open)
		require.Zero(t, first.Span, "it does not know since when it has all changes")
		before := r.origins[key].changes
		second := read(start + 5*day)
		require.False(t, second.Open, "ten new items of twenty")
		require.EqualValues(t, r.origins[key].changes-before, second.Changes)
		require.True(t, read(start+60*day).Open, "all items are new")
		require.InEpsilon(t, 2, r.rules.Rate(r.states[key]), 0.6)
	}
}

func TestAWorldMayHaveSizesOfClaims(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(`{"name": "claims", "ranges": {"claim": [4, 64]}}`))
	require.NoError(t, err)
	sizes := map[int]bool{}
	for seed := range uint64(9) {
		r, err := newRun(Setup{Scenario: s, Policy: "value", Rules: policy.DefaultRules(), Origins: 10, Days: 10, Seed: seed})
		require.NoError(t, err)
		require.GreaterOrEqual(t, r.Setup.Claim, 4)
		require.LessOrEqual(t, r.Setup.Claim, 64)
		sizes[r.Setup.Claim] = true
	}
	require.Greater(t, len(sizes), 4)
	r, err := newRun(Setup{Scenario: s, Policy: "value", Rules: policy.DefaultRules(), Origins: 10, Days: 10, Claim: 3})
	require.NoError(t, err)
	require.Equal(t, 3, r.Setup.Claim)
}

func TestKindsOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	for _, kinds := range []string{`{"kind": "git"}`, `{"kind": "git", "share": 0.6}, {"kind": "feed", "share": 0.6}`, `{"kind": "git", "share": 1, "window": -1}`, `{"kind": "git", "share": 1, "median_rate": 99}`} {
		_, err := Parse([]byte(`{"kinds": [` + kinds + `]}`))
		require.Error(t, err, kinds)
	}
}
