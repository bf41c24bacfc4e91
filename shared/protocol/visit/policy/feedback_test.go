package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/protocol/visit/policy"
)

// exact are rules without chance and without a span before failures disable.
func exact() policy.Rules {
	r := policy.DefaultRules()
	r.Fudge, r.DisableSpan = 0, 0
	r.Intervals, r.FirstIndex, r.Raise, r.Lower = []int{1, 2, 3, 4, 5, 6, 7}, 3, 1, 2
	return r
}

func TestTheTargetMovesByTheIntervalAndTheIndexByTheEffect(t *testing.T) {
	t.Parallel()
	const at, position = 1000 * day, 2000 * day
	known := func(change func(*policy.State)) policy.State {
		s := policy.NewState(1, 0, exact())
		s.LastVisit, s.LastSuccess, s.LastStatus, s.LastDigest, s.Target, s.Index = 900*day, 900*day, policy.Full, "a", 950*day, 3
		change(&s)
		return s
	}
	changed, same, failed := policy.Event{Status: policy.Full, Digest: "b"}, policy.Event{Status: policy.Full, Digest: "a"}, policy.Event{Status: policy.Failed}
	isNew := func(*policy.State) {}
	for name, c := range map[string]struct {
		policy string
		before policy.State
		event  policy.Event
		index  int
		target int64
	}{
		"the first visit":                {"seed", policy.NewState(1, 0, exact()), changed, 3, position + 4*day},
		"the first visit failed":         {"seed", policy.NewState(1, 0, exact()), failed, 3, position + 1*day},
		"changed":                        {"seed", known(isNew), changed, 1, 952 * day},
		"unchanged":                      {"seed", known(isNew), same, 4, 955 * day},
		"changed, at the first interval": {"seed", known(func(s *policy.State) { s.Index = 1 }), changed, 0, 951 * day},
		"unchanged, at the last one":     {"seed", known(func(s *policy.State) { s.Index = 6 }), same, 6, 957 * day},
		"failed":                         {"seed", known(isNew), failed, 3, 951 * day},
		"a target in 1970":               {"seed", known(func(s *policy.State) { s.Target = 0 }), same, 4, 5 * day},
		"swh: the first visit":           {"swh2026", policy.NewState(1, 0, exact()), changed, 3, position + 4*day},
		"swh: the first visit failed":    {"swh2026", policy.NewState(1, 0, exact()), failed, 3, position + 4*day},
		"swh: changed":                   {"swh2026", known(isNew), changed, 1, 952 * day},
		"swh: unchanged":                 {"swh2026", known(isNew), same, 4, 955 * day},
		"swh: failed":                    {"swh2026", known(isNew), failed, 4, 955 * day},
		"swh: a target in 1970":          {"swh2026", known(func(s *policy.State) { s.Target = 0 }), same, 4, position + 5*day},
		"legacy: the first visit":        {"legacy", policy.NewState(1, 0, exact()), changed, 2, at + 3*day},
		"legacy: changed":                {"legacy", known(isNew), changed, 2, at + 3*day},
		"legacy: unchanged":              {"legacy", known(isNew), same, 2, at + 3*day},
		"legacy: at the first interval":  {"legacy", known(func(s *policy.State) { s.Index = 0 }), same, 0, at + 1*day},
		"legacy: failed":                 {"legacy", known(isNew), failed, 3, at + 1*day},
	} {
		p, err := policy.New(c.policy, exact())
		require.NoError(t, err)
		c.event.At = at
		after, effect := p.Record(c.before, c.event, position)
		require.Empty(t, effect.Ignored, name)
		require.Equal(t, c.index, after.Index, name)
		require.Equal(t, c.target, after.Target, name)
		require.EqualValues(t, at, after.LastVisit, name)
		require.Equal(t, c.before.LastVisit == policy.Never, effect.First, name)
		require.Equal(t, c.event.Status == policy.Full, effect.Success, name)
		require.Equal(t, c.event.Digest == "b", effect.Changed, name)
		if effect.Success {
			require.EqualValues(t, at, after.LastSuccess, name)
			require.Equal(t, c.event.Digest, after.LastDigest, name)
		} else {
			require.Equal(t, c.before.LastSuccess, after.LastSuccess, name)
			require.Equal(t, 1, after.Failures, name)
		}
		for _, ignored := range []policy.Event{{Status: "ongoing", At: at + 1}, {Status: policy.Full, At: at, Digest: "c"}, {Status: policy.Full, At: at - 1, Digest: "c"}} {
			again, effect := p.Record(after, ignored, position)
			require.Equal(t, after, again, name)
			require.NotEmpty(t, effect.Ignored, name)
			require.Equal(t, policy.Effect{Ignored: effect.Ignored}, effect, name)
		}
	}
}

func TestFailuresInARowDisableAnOriginAndASuccessEndsThem(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"seed", "swh2026", "legacy", "roundrobin", "value"} {
		p, err := policy.New(name, exact())
		require.NoError(t, err)
		s := policy.NewState(1, 0, exact())
		s.Dates = 5
		step := func(status policy.Status, digest string) {
			s, _ = p.Record(s, policy.Event{Status: status, At: max(s.LastVisit, 0) + day, Digest: digest}, 0)
		}
		step(policy.Failed, "")
		require.Equal(t, policy.Failed, s.LastStatus, name)
		step(policy.Failed, "")
		require.Equal(t, 2, s.Failures, name)
		require.Equal(t, 5, s.Dates, name)
		step(policy.Partial, "a")
		require.Zero(t, s.Failures, name)
		require.Zero(t, s.Dates, name)
		require.Equal(t, policy.Partial, s.LastStatus, name)
		step(policy.NotFound, "")
		require.Equal(t, policy.NotFound, s.LastStatus, name)
		step(policy.Failed, "")
		ofOneKind := 2
		if name == "swh2026" {
			ofOneKind = 1 // it counts failures of one kind
		}
		require.Equal(t, ofOneKind, s.Failures, name)
		require.True(t, s.Enabled(), name)
		for s.Enabled() {
			step(policy.Failed, "")
		}
		require.Equal(t, 3, s.Failures, name)
		require.Equal(t, policy.ByFailures, s.Disabled, name)
		step(policy.Gone, "")
		require.Equal(t, policy.ByFailures, s.Disabled, "%s: it keeps its reason", name)
		require.Equal(t, policy.NotFound, s.LastStatus, name)
	}
}

func TestARetryAfterAndATimeOfFreshnessCountUntilTheNextVisit(t *testing.T) {
	t.Parallel()
	r := exact()
	s, _ := r.Record(policy.NewState(1, 0, r), policy.Event{Status: policy.Full, At: 10, Digest: "a", NotBefore: 1, FreshUntil: 1}, 0)
	require.EqualValues(t, 1, s.NotBefore)
	require.EqualValues(t, 1, s.FreshUntil)
	for _, none := range []int64{0, -1, policy.Never} {
		after, _ := r.Record(s, policy.Event{Status: policy.Full, At: 20, Digest: "a", NotBefore: none, FreshUntil: none}, 0)
		require.Equal(t, policy.Never, after.NotBefore)
		require.Equal(t, policy.Never, after.FreshUntil)
	}
	after, _ := r.Record(s, policy.Event{Status: policy.Full, At: policy.Latest + 9, Digest: "a", NotBefore: policy.Latest + 9, FreshUntil: policy.Latest + 9}, 0)
	require.Equal(t, []int64{policy.Latest, policy.Latest, policy.Latest}, []int64{after.LastVisit, after.NotBefore, after.FreshUntil})
}

func TestDatesOfAListerAreCountedIfTheyAreNewerThanTheLastSuccess(t *testing.T) {
	t.Parallel()
	s := policy.NewState(1, 50, exact())
	s.LastSuccess = 100
	for _, c := range []struct {
		listed, date, seen, update int64
		dates                      int
	}{
		{60, policy.Never, 60, policy.Never, 0}, {55, 99, 60, 99, 0}, {61, 100, 61, 100, 0}, {62, 101, 62, 101, 1}, {63, 101, 63, 101, 1},
		{64, 90, 64, 101, 1}, {65, 102, 65, 102, 2},
	} {
		s = policy.Listed(s, c.listed, c.date)
		require.Equal(t, c.seen, s.LastSeen, c)
		require.Equal(t, c.update, s.LastUpdate, c)
		require.Equal(t, c.dates, s.Dates, c)
	}
	s.Lister = 7
	require.EqualValues(t, 7, s.DatedBy())
	require.EqualValues(t, 62, s.ToldAt, "the listing that gave the first date after the last success")
	s.Begin(66)
	s = policy.Tell(s, 101)
	require.Equal(t, []int64{101, 1}, []int64{s.LastUpdate, int64(s.Dates)}, "the reports begin again")
	s = policy.Tell(s, 102)
	require.Equal(t, []int64{101, 1, 101}, []int64{s.LastUpdate, int64(s.Dates), s.ToldAt}, "the first report waits for a visit")
	s.Begin(102)
	s = policy.Tell(s, 103)
	require.EqualValues(t, 103, s.ToldAt)
	s.Begin(103)
	s = policy.Tell(s, 102)
	require.Equal(t, []int64{103, 2}, []int64{s.LastUpdate, int64(s.Dates)})
	require.Equal(t, policy.TellersID, s.DatedBy())
	s = policy.Listed(s, 70, 200)
	require.EqualValues(t, 103, s.LastUpdate)
	require.EqualValues(t, 70, s.LastSeen)
	for at := range int64(2000) {
		s.Begin(1000 + at)
		s = policy.Tell(s, 1000+at)
	}
	require.Equal(t, 1000, s.Dates)
}

func TestAnOriginThatIsGoneIsEnabledByALaterDateOnly(t *testing.T) {
	t.Parallel()
	gone := policy.NewState(1, 0, exact())
	gone.LastVisit, gone.Disabled = 100, policy.ByGone
	for date, enabled := range map[int64]bool{policy.Never: false, 99: false, 100: false, 101: true} {
		require.Equal(t, enabled, policy.Listed(gone, 200, date).Enabled(), date)
	}
	require.Equal(t, policy.ByGone, policy.Unlisted(gone).Disabled, "it keeps its reason")
	gone.Disabled = policy.ByFailures
	require.True(t, policy.Listed(gone, 200, policy.Never).Enabled())
}

func TestThePositionIsTheLargestTargetHandedOut(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"seed", "value", "swh2026"} {
		p, err := policy.New(name, exact())
		require.NoError(t, err)
		s := policy.NewState(1, 0, exact())
		require.EqualValues(t, 5, p.Position(5, s), name)
		s.Target = 9
		require.EqualValues(t, 9, p.Position(5, s), name)
		require.EqualValues(t, 10, p.Position(10, s), name)
		s.LastUpdate = 3
		want := int64(5) // only the queue of origins without a date is ordered by targets
		if name == "value" {
			want = 9 // it has no such queue; a Plan does not ask it
		}
		require.Equal(t, want, p.Position(5, s), name)
		whole := policy.Single(p, exact())
		require.EqualValues(t, 5, whole.Position(5, s), name)
		s.LastUpdate = policy.Never
		require.Equal(t, name != "value", whole.Position(5, s) == 9, name)
		s.Every = 60
		require.EqualValues(t, 5, whole.Position(5, s), "%s: fixed intervals have no targets", name)
	}
	seed, err := policy.New("seed", exact())
	require.NoError(t, err)
	s, _ := seed.Record(policy.NewState(1, 0, exact()), policy.Event{Status: policy.Failed, At: 1}, policy.Never+1)
	require.Equal(t, -policy.Latest+day, s.Target)
	s, _ = seed.Record(policy.NewState(1, 0, exact()), policy.Event{Status: policy.Failed, At: 1}, policy.Latest+5)
	require.Equal(t, policy.Latest, s.Target)
}
