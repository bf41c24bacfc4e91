package visit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/coordinator/visit"
)

func failing(t *testing.T, p visit.Policy, rules visit.Rules, s visit.State, status visit.Status, n int) (rests []time.Duration, last visit.State) {
	t.Helper()
	at := max(s.LastVisit, s.FirstSeen)
	for range n {
		until, _ := rules.Rest(s)
		at = max(at+1, until)
		s, _ = p.Record(s, visit.Event{Status: status, At: at}, 0)
		if until, _ = rules.Rest(s); s.Enabled() {
			rests = append(rests, time.Duration(until-at)*time.Second)
		}
	}
	return rests, s
}

func TestRestsAfterFailuresAreHoursOrDaysAndDouble(t *testing.T) {
	t.Parallel()
	seen := visit.NewState(1, 0, visit.DefaultRules())
	seen.LastVisit, seen.LastSuccess, seen.LastDigest = 1000, 1000, "a"
	const hour, day = time.Hour, 24 * time.Hour
	for name, c := range map[string]struct {
		policy string
		status visit.Status
		want   []time.Duration
	}{
		"failures: hours":               {"value", visit.Failed, []time.Duration{hour, 2 * hour, 4 * hour, 8 * hour, 16 * hour, 32 * hour, 64 * hour, 128 * hour, 7 * day}},
		"not found: days":               {"value", visit.NotFound, []time.Duration{2 * day, 4 * day, 7 * day, 7 * day}},
		"round robin too":               {"roundrobin", visit.Failed, []time.Duration{hour, 2 * hour}},
		"seed: the smallest interval":   {"seed", visit.Failed, []time.Duration{day, day}},
		"seed: also if not found":       {"seed", visit.NotFound, []time.Duration{day, day}},
		"swh2026: its own cooldowns":    {"swh2026", visit.Failed, []time.Duration{14 * day, 14 * day}},
		"swh2026: its own if not found": {"swh2026-git", visit.NotFound, []time.Duration{31 * day, 31 * day}},
	} {
		rules := visit.DefaultRules().ForPolicy(c.policy)
		p, err := visit.New(c.policy, visit.DefaultRules())
		require.NoError(t, err)
		rests, _ := failing(t, p, rules, seen, c.status, len(c.want))
		require.Equal(t, c.want, rests, name)
	}
	plan, err := visit.ParsePlan("value,git=seed", "feed.failed-cooldown=5m")
	require.NoError(t, err)
	require.Equal(t, day, plan.Rules("git").NotFoundCooldown)
	require.Equal(t, 5*time.Minute, plan.Rules("feed").FailedCooldown)
	require.Equal(t, time.Hour, plan.Rules("media").FailedCooldown)
}

func TestALongCooldownIsForSuccessesOnly(t *testing.T) {
	t.Parallel()
	rules := visit.DefaultRules()
	rules.Cooldown, rules.LongestCooldown = 15*time.Minute, 12*time.Hour
	const now = 100 * day
	rest := func(e visit.Event) time.Duration {
		s := visit.NewState(1, now-10*day, rules)
		s.LastScheduled, e.At = now, now
		s, _ = rules.Record(s, e, 0)
		until, _ := rules.Rest(s)
		return time.Duration(until-now) * time.Second
	}
	require.Equal(t, 12*time.Hour, rest(visit.Event{Status: visit.Full, Digest: "a"}))
	require.Equal(t, time.Hour, rest(visit.Event{Status: visit.Failed}))
	require.Equal(t, 48*time.Hour, rest(visit.Event{Status: visit.NotFound}))
	refused := visit.NewState(1, now-10*day, rules)
	refused.LastScheduled = now
	after, _ := rules.Record(refused, visit.Event{Status: visit.Failed, At: now, NotBefore: now + 1800}, 0)
	until, why := rules.Rest(visit.AfterRefusal(refused, after))
	require.Equal(t, visit.RetryAfter, why)
	require.EqualValues(t, now+1800, until)
}

// A success, or another failure, ends the refusals in a row; a host without a connection does not.
func TestEachRetryAfterInARowDoublesTheRest(t *testing.T) {
	t.Parallel()
	rules, now := visit.DefaultRules(), int64(100*day)
	rules.Cooldown, rules.LongestCooldown = 0, 0
	s := visit.NewState(1, now, rules)
	step := func(e visit.Event) int64 {
		before := s
		now += 30 * day
		e.At, s.LastScheduled = now, now
		if e.NotBefore > 0 {
			e.NotBefore += now
		}
		after, _ := rules.Record(s, e, 0)
		if s = after; e.NotBefore > 0 {
			s = visit.AfterRefusal(before, after)
		}
		until, _ := rules.Rest(s)
		return until - now
	}
	refused := func(after int64) visit.Event { return visit.Event{Status: visit.Failed, NotBefore: after} }
	const hour = 3600
	for _, want := range []int64{5, 10, 20, 40, 80, 160, 168, 168} {
		require.EqualValues(t, want*hour, step(refused(5*hour)))
	}
	require.EqualValues(t, 200*hour, step(refused(200*hour)), "as long as the server asks for")
	before := s
	after, _ := rules.Record(s, visit.Event{Status: visit.Failed, At: now + day}, 0)
	require.Zero(t, after.Refusals)
	s = visit.AfterRefusal(before, after)
	require.EqualValues(t, 168*hour, step(refused(5*hour)), "its host was not reached in between")
	step(visit.Event{Status: visit.Full, Digest: "a"})
	require.EqualValues(t, 5*hour, step(refused(5*hour)))
	step(visit.Event{Status: visit.NotFound})
	require.EqualValues(t, 48*hour, step(refused(5*hour)), "the rest after the failure")
	require.Equal(t, 1, s.Refusals)
	for range 100 {
		require.LessOrEqual(t, step(refused(24*hour)), int64(168*hour))
	}
}

func TestAnOutageOfDaysDisablesNoOrigin(t *testing.T) {
	t.Parallel()
	p := visit.Value{Rules: visit.DefaultRules()}
	s := visit.NewState(1, 0, p.Rules)
	s.LastVisit, s.LastSuccess, s.LastDigest = 1000, 1000, "a"
	_, s = failing(t, p, p.Rules, s, visit.Failed, 8)
	require.Greater(t, s.LastVisit-1000, int64(5*86400))
	require.True(t, s.Enabled())
	_, s = failing(t, p, p.Rules, s, visit.Failed, 3)
	require.Equal(t, visit.ByFailures, s.Disabled, "after two weeks")

	never := visit.NewState(2, 0, p.Rules)
	_, never = failing(t, p, p.Rules, never, visit.NotFound, 6)
	require.Equal(t, visit.ByFailures, never.Disabled, "one that never succeeded counts from its first sight")
}

func TestAnOriginThatIsGoneIsDisabledUntilItsListerDatesAChange(t *testing.T) {
	t.Parallel()
	for _, name := range visit.Names {
		p, err := visit.New(name, visit.DefaultRules())
		require.NoError(t, err)
		s := visit.NewState(1, 0, visit.DefaultRules())
		s, effect := p.Record(s, visit.Event{Status: visit.Gone, At: 1000}, 0)
		require.Empty(t, effect.Ignored, name)
		require.Equal(t, visit.ByGone, s.Disabled, name)
		require.Equal(t, visit.ByGone, visit.Listed(s, 2000, visit.Never).Disabled, name)
		require.Equal(t, visit.ByGone, visit.Listed(s, 2000, 900).Disabled, name)
		require.True(t, visit.Listed(s, 2000, 1500).Enabled(), name)
	}
}

func TestNoFailureRestsLongerThanAWeekUnderTheDefaults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rules := visit.DefaultRules()
		s := visit.NewState(1, 0, rules)
		s.LastVisit, s.Failures = 0, rapid.IntRange(0, 1_000_000).Draw(t, "failures")
		s.LastStatus = rapid.SampledFrom([]visit.Status{visit.Failed, visit.NotFound}).Draw(t, "status")
		until, _ := rules.Rest(s)
		require.Positive(t, until)
		require.LessOrEqual(t, until, int64(7*86400))
	})
}

func TestAnOriginIsDisabledWhenItsFailuresAreManyAndItsLastSuccessIsLongAgo(t *testing.T) {
	t.Parallel()
	rules := visit.DefaultRules()
	span := int64(rules.DisableSpan / time.Second)
	for _, c := range []struct {
		failures int   // before this one
		since    int64 // the last success or the first sight
		disabled bool
	}{{rules.DisableAfter - 1, span, true}, {rules.DisableAfter - 1, span - 1, false}, {rules.DisableAfter - 2, span, false}, {rules.DisableAfter, 2 * span, true}} {
		for _, succeeded := range []bool{true, false} {
			s := visit.NewState(1, 100*day, rules)
			if succeeded {
				s.FirstSeen, s.LastSuccess = 0, 100*day
			}
			s.Failures = c.failures
			s, _ = rules.Record(s, visit.Event{Status: visit.Failed, At: 100*day + c.since}, 0)
			require.Equal(t, c.disabled, !s.Enabled(), "%+v, succeeded: %v", c, succeeded)
		}
	}
}

func TestARestIsOfTheKindOfFailure(t *testing.T) {
	t.Parallel()
	rules := visit.DefaultRules()
	for name, c := range map[string]struct {
		event visit.Event
		want  visit.Status
		rest  time.Duration
	}{
		"a visit that failed":     {visit.Event{Status: visit.Failed}, visit.Failed, rules.FailedCooldown},
		"an origin not found":     {visit.Event{Status: visit.NotFound}, visit.NotFound, rules.NotFoundCooldown},
		"a part without a digest": {visit.Event{Status: visit.Partial}, visit.Failed, rules.FailedCooldown},
		"all without a digest":    {visit.Event{Status: visit.Full}, visit.Failed, rules.FailedCooldown},
		"a part with a digest":    {visit.Event{Status: visit.Partial, Digest: "a"}, visit.Partial, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.event.At = 100 * day
			s, effect := rules.Record(visit.NewState(1, 0, rules), c.event, 0)
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
	p, now := visit.Value{Rules: visit.DefaultRules()}, int64(1_700_000_000)
	s := visit.NewState(1, now-100*day, visit.DefaultRules())
	s.LastSuccess, s.Changes, s.Days = now-20*day, 10, 300
	worth := []float64{p.Worth(p.Place(s), visit.Quality{}, now)}
	for s.Failures = 1; s.Failures < 4; s.Failures++ {
		require.Equal(t, visit.PoolFailing, p.Place(s).Pool)
		worth = append(worth, p.Worth(p.Place(s), visit.Quality{}, now))
	}
	require.IsDecreasing(t, worth)
}
