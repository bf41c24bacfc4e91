package policy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/protocol/visit/policy"
)

func failing(t *testing.T, p policy.Policy, rules policy.Rules, s policy.State, status policy.Status, n int) (rests []time.Duration, last policy.State) {
	t.Helper()
	at := max(s.LastVisit, s.FirstSeen)
	for range n {
		until, _ := rules.Rest(s)
		at = max(at+1, until)
		s, _ = p.Record(s, policy.Event{Status: status, At: at}, 0)
		until, _ = rules.Rest(s)
		if s.Enabled() {
			rests = append(rests, time.Duration(until-at)*time.Second)
		}
	}
	return rests, s
}

func TestRestsAfterFailuresAreHoursOrDaysAndDouble(t *testing.T) {
	t.Parallel()
	seen := policy.NewState(1, 0, policy.DefaultRules())
	seen.LastVisit, seen.LastSuccess, seen.LastDigest = 1000, 1000, "a"
	const hour, day = time.Hour, 24 * time.Hour
	for name, c := range map[string]struct {
		policy string
		status policy.Status
		want   []time.Duration
	}{
		"failures: hours":               {"value", policy.Failed, []time.Duration{hour, 2 * hour, 4 * hour, 8 * hour, 16 * hour, 32 * hour, 64 * hour, 128 * hour, 7 * day}},
		"not found: days":               {"value", policy.NotFound, []time.Duration{2 * day, 4 * day, 7 * day, 7 * day}},
		"round robin too":               {"roundrobin", policy.Failed, []time.Duration{hour, 2 * hour}},
		"seed: the smallest interval":   {"seed", policy.Failed, []time.Duration{day, day}},
		"seed: also if not found":       {"seed", policy.NotFound, []time.Duration{day, day}},
		"swh2026: its own cooldowns":    {"swh2026", policy.Failed, []time.Duration{14 * day, 14 * day}},
		"swh2026: its own if not found": {"swh2026-git", policy.NotFound, []time.Duration{31 * day, 31 * day}},
	} {
		rules := policy.DefaultRules().ForPolicy(c.policy)
		p, err := policy.New(c.policy, policy.DefaultRules())
		require.NoError(t, err)
		rests, _ := failing(t, p, rules, seen, c.status, len(c.want))
		require.Equal(t, c.want, rests, name)
	}
	plan, err := policy.ParsePlan("value,git=seed", "feed.failed-cooldown=5m")
	require.NoError(t, err)
	require.Equal(t, day, plan.Rules("git").NotFoundCooldown)
	require.Equal(t, 5*time.Minute, plan.Rules("feed").FailedCooldown)
	require.Equal(t, time.Hour, plan.Rules("media").FailedCooldown)
}

func TestALongCooldownIsForSuccessesOnly(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	rules.Cooldown, rules.LongestCooldown = 15*time.Minute, 12*time.Hour
	const now = 100 * day
	rest := func(e policy.Event) time.Duration {
		s := policy.NewState(1, now-10*day, rules)
		s.LastScheduled, e.At = now, now
		s, _ = rules.Record(s, e, 0)
		until, _ := rules.Rest(s)
		return time.Duration(until-now) * time.Second
	}
	require.Equal(t, 12*time.Hour, rest(policy.Event{Status: policy.Full, Digest: "a"}))
	require.Equal(t, time.Hour, rest(policy.Event{Status: policy.Failed}))
	require.Equal(t, 48*time.Hour, rest(policy.Event{Status: policy.NotFound}))
	refused := policy.NewState(1, now-10*day, rules)
	refused.LastScheduled = now
	after, _ := rules.Record(refused, policy.Event{Status: policy.Failed, At: now, NotBefore: now + 1800}, 0)
	until, why := rules.Rest(policy.AfterRefusal(refused, after))
	require.Equal(t, policy.RetryAfter, why)
	require.EqualValues(t, now+1800, until)
}

// A success, or another failure, ends the refusals in a row; a host without a connection does not.
func TestEachRetryAfterInARowDoublesTheRest(t *testing.T) {
	t.Parallel()
	rules, now := policy.DefaultRules(), int64(100*day)
	rules.Cooldown, rules.LongestCooldown = 0, 0
	s := policy.NewState(1, now, rules)
	step := func(e policy.Event) int64 {
		before := s
		now += 30 * day
		e.At, s.LastScheduled = now, now
		if e.NotBefore > 0 {
			e.NotBefore += now
		}
		after, _ := rules.Record(s, e, 0)
		s = after
		if e.NotBefore > 0 {
			s = policy.AfterRefusal(before, after)
		}
		until, _ := rules.Rest(s)
		return until - now
	}
	refused := func(after int64) policy.Event { return policy.Event{Status: policy.Failed, NotBefore: after} }
	const hour = 3600
	for _, want := range []int64{5, 10, 20, 40, 80, 160, 168, 168} {
		require.EqualValues(t, want*hour, step(refused(5*hour)))
	}
	require.EqualValues(t, 200*hour, step(refused(200*hour)), "as long as the server asks for")
	before := s
	after, _ := rules.Record(s, policy.Event{Status: policy.Failed, At: now + day}, 0)
	require.Zero(t, after.Refusals)
	s = policy.AfterRefusal(before, after)
	require.EqualValues(t, 168*hour, step(refused(5*hour)), "its host was not reached in between")
	step(policy.Event{Status: policy.Full, Digest: "a"})
	require.EqualValues(t, 5*hour, step(refused(5*hour)))
	step(policy.Event{Status: policy.NotFound})
	require.EqualValues(t, 48*hour, step(refused(5*hour)), "the rest after the failure")
	require.Equal(t, 1, s.Refusals)
	for range 100 {
		require.LessOrEqual(t, step(refused(24*hour)), int64(168*hour))
	}
}

func TestAnOutageOfDaysDisablesNoOrigin(t *testing.T) {
	t.Parallel()
	p := policy.Value{Rules: policy.DefaultRules()}
	s := policy.NewState(1, 0, p.Rules)
	s.LastVisit, s.LastSuccess, s.LastDigest = 1000, 1000, "a"
	_, s = failing(t, p, p.Rules, s, policy.Failed, 8)
	require.Greater(t, s.LastVisit-1000, int64(5*86400))
	require.True(t, s.Enabled())
	_, s = failing(t, p, p.Rules, s, policy.Failed, 3)
	require.Equal(t, policy.ByFailures, s.Disabled, "after two weeks")

	never := policy.NewState(2, 0, p.Rules)
	_, never = failing(t, p, p.Rules, never, policy.NotFound, 6)
	require.Equal(t, policy.ByFailures, never.Disabled, "one that never succeeded counts from its first sight")
}

func TestAnOriginThatIsGoneIsDisabledUntilItsListerDatesAChange(t *testing.T) {
	t.Parallel()
	for _, name := range policy.Names {
		p, err := policy.New(name, policy.DefaultRules())
		require.NoError(t, err)
		s := policy.NewState(1, 0, policy.DefaultRules())
		s, effect := p.Record(s, policy.Event{Status: policy.Gone, At: 1000}, 0)
		require.Empty(t, effect.Ignored, name)
		require.Equal(t, policy.ByGone, s.Disabled, name)
		require.Equal(t, policy.ByGone, policy.Listed(s, 2000, policy.Never).Disabled, name)
		require.Equal(t, policy.ByGone, policy.Listed(s, 2000, 900).Disabled, name)
		require.True(t, policy.Listed(s, 2000, 1500).Enabled(), name)
	}
}

func TestNoFailureRestsLongerThanAWeekUnderTheDefaults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules := policy.DefaultRules()
		s := policy.NewState(1, 0, rules)
		s.LastVisit, s.Failures = 0, rapid.IntRange(0, 1_000_000).Draw(t, "failures")
		s.LastStatus = rapid.SampledFrom([]policy.Status{policy.Failed, policy.NotFound}).Draw(t, "status")
		until, _ := rules.Rest(s)
		require.Positive(t, until)
		require.LessOrEqual(t, until, int64(7*86400))
	})
}

func TestAnOriginIsDisabledWhenItsFailuresAreManyAndItsLastSuccessIsLongAgo(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	span := int64(rules.DisableSpan / time.Second)
	for _, c := range []struct {
		failures int   // before this one
		since    int64 // the last success or the first sight
		disabled bool
	}{{rules.DisableAfter - 1, span, true}, {rules.DisableAfter - 1, span - 1, false}, {rules.DisableAfter - 2, span, false}, {rules.DisableAfter, 2 * span, true}} {
		for _, succeeded := range []bool{true, false} {
			s := policy.NewState(1, 100*day, rules)
			if succeeded {
				s.FirstSeen, s.LastSuccess = 0, 100*day
			}
			s.Failures = c.failures
			s, _ = rules.Record(s, policy.Event{Status: policy.Failed, At: 100*day + c.since}, 0)
			require.Equal(t, c.disabled, !s.Enabled(), "%+v, succeeded: %v", c, succeeded)
		}
	}
}

func TestARestIsOfTheKindOfFailure(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	for name, c := range map[string]struct {
		event policy.Event
		want  policy.Status
		rest  time.Duration
	}{
		"a visit that failed":     {policy.Event{Status: policy.Failed}, policy.Failed, rules.FailedCooldown},
		"an origin not found":     {policy.Event{Status: policy.NotFound}, policy.NotFound, rules.NotFoundCooldown},
		"a part without a digest": {policy.Event{Status: policy.Partial}, policy.Failed, rules.FailedCooldown},
		"all without a digest":    {policy.Event{Status: policy.Full}, policy.Failed, rules.FailedCooldown},
		"a part with a digest":    {policy.Event{Status: policy.Partial, Digest: "a"}, policy.Partial, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.event.At = 100 * day
			s, effect := rules.Record(policy.NewState(1, 0, rules), c.event, 0)
			require.Equal(t, c.want, s.LastStatus)
			require.Equal(t, c.rest == 0, effect.Success)
			until, _ := rules.Rest(s)
			if c.rest > 0 {
				require.Equal(t, 1, s.Failures)
				require.Equal(t, c.event.At+int64(c.rest.Seconds()), until)
			} else {
				require.Zero(t, s.Failures)
				require.LessOrEqual(t, until, c.event.At)
			}
		})
	}
}

func TestAFailingOriginIsWorthLessWithEachFailure(t *testing.T) {
	t.Parallel()
	p, now := policy.Value{Rules: policy.DefaultRules()}, int64(1_700_000_000)
	s := policy.NewState(1, now-100*day, policy.DefaultRules())
	s.LastSuccess, s.Changes, s.Days = now-20*day, 10, 300
	worth := []float64{p.Worth(p.Place(s), policy.Quality{}, now)}
	for s.Failures = 1; s.Failures < 4; s.Failures++ {
		require.Equal(t, policy.PoolFailing, p.Place(s).Pool)
		worth = append(worth, p.Worth(p.Place(s), policy.Quality{}, now))
	}
	require.IsDecreasing(t, worth)
}
