package visit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/visit"
)

// exact are rules without chance and without a span before failures disable.
func exact() visit.Rules {
	r := visit.DefaultRules()
	r.Fudge, r.DisableSpan = 0, 0
	r.Intervals, r.FirstIndex, r.Raise, r.Lower = []int{1, 2, 3, 4, 5, 6, 7}, 3, 1, 2
	return r
}

func TestTheTargetMovesByTheIntervalAndTheIndexByTheEffect(t *testing.T) {
	t.Parallel()
	const at, position = 1000 * day, 2000 * day
	known := func(change func(*visit.State)) visit.State {
		s := visit.NewState(1, 0, exact())
		s.LastVisit, s.LastSuccess, s.LastStatus, s.LastDigest, s.Target, s.Index = 900*day, 900*day, visit.Full, "a", 950*day, 3
		change(&s)
		return s
	}
	changed, same, failed := visit.Event{Status: visit.Full, Digest: "b"}, visit.Event{Status: visit.Full, Digest: "a"}, visit.Event{Status: visit.Failed}
	isNew := func(*visit.State) {}
	for name, c := range map[string]struct {
		policy string
		before visit.State
		event  visit.Event
		index  int
		target int64
	}{
		"the first visit":                {"seed", visit.NewState(1, 0, exact()), changed, 3, position + 4*day},
		"the first visit failed":         {"seed", visit.NewState(1, 0, exact()), failed, 3, position + 1*day},
		"changed":                        {"seed", known(isNew), changed, 1, 952 * day},
		"unchanged":                      {"seed", known(isNew), same, 4, 955 * day},
		"changed, at the first interval": {"seed", known(func(s *visit.State) { s.Index = 1 }), changed, 0, 951 * day},
		"unchanged, at the last one":     {"seed", known(func(s *visit.State) { s.Index = 6 }), same, 6, 957 * day},
		"failed":                         {"seed", known(isNew), failed, 3, 951 * day},
		"a target in 1970":               {"seed", known(func(s *visit.State) { s.Target = 0 }), same, 4, 5 * day},
		"swh: the first visit":           {"swh2026", visit.NewState(1, 0, exact()), changed, 3, position + 4*day},
		"swh: the first visit failed":    {"swh2026", visit.NewState(1, 0, exact()), failed, 3, position + 4*day},
		"swh: changed":                   {"swh2026", known(isNew), changed, 1, 952 * day},
		"swh: unchanged":                 {"swh2026", known(isNew), same, 4, 955 * day},
		"swh: failed":                    {"swh2026", known(isNew), failed, 4, 955 * day},
		"swh: a target in 1970":          {"swh2026", known(func(s *visit.State) { s.Target = 0 }), same, 4, position + 5*day},
		"legacy: the first visit":        {"legacy", visit.NewState(1, 0, exact()), changed, 2, at + 3*day},
		"legacy: changed":                {"legacy", known(isNew), changed, 2, at + 3*day},
		"legacy: unchanged":              {"legacy", known(isNew), same, 2, at + 3*day},
		"legacy: at the first interval":  {"legacy", known(func(s *visit.State) { s.Index = 0 }), same, 0, at + 1*day},
		"legacy: failed":                 {"legacy", known(isNew), failed, 3, at + 1*day},
	} {
		p, err := visit.New(c.policy, exact())
		require.NoError(t, err)
		c.event.At = at
		after, effect := p.Record(c.before, c.event, position)
		require.Empty(t, effect.Ignored, name)
		require.Equal(t, c.index, after.Index, name)
		require.Equal(t, c.target, after.Target, name)
		require.EqualValues(t, at, after.LastVisit, name)
		require.Equal(t, c.before.LastVisit == visit.Never, effect.First, name)
		require.Equal(t, c.event.Status == visit.Full, effect.Success, name)
		require.Equal(t, c.event.Digest == "b", effect.Changed, name)
		if effect.Success {
			require.EqualValues(t, at, after.LastSuccess, name)
			require.Equal(t, c.event.Digest, after.LastDigest, name)
		} else {
			require.Equal(t, c.before.LastSuccess, after.LastSuccess, name)
			require.Equal(t, 1, after.Failures, name)
		}
		for _, ignored := range []visit.Event{{Status: "ongoing", At: at + 1}, {Status: visit.Full, At: at, Digest: "c"}, {Status: visit.Full, At: at - 1, Digest: "c"}} {
			again, effect := p.Record(after, ignored, position)
			require.Equal(t, after, again, name)
			require.NotEmpty(t, effect.Ignored, name)
			require.Equal(t, visit.Effect{Ignored: effect.Ignored}, effect, name)
		}
	}
}

func TestFailuresInARowDisableAnOriginAndASuccessEndsThem(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"seed", "swh2026", "legacy", "roundrobin", "value"} {
		p, err := visit.New(policy, exact())
		require.NoError(t, err)
		s := visit.NewState(1, 0, exact())
		s.Dates = 5
		step := func(status visit.Status, digest string) {
			s, _ = p.Record(s, visit.Event{Status: status, At: max(s.LastVisit, 0) + day, Digest: digest}, 0)
		}
		step(visit.Failed, "")
		require.Equal(t, visit.Failed, s.LastStatus, policy)
		step(visit.Failed, "")
		require.Equal(t, 2, s.Failures, policy)
		require.Equal(t, 5, s.Dates, policy)
		step(visit.Partial, "a")
		require.Zero(t, s.Failures, policy)
		require.Zero(t, s.Dates, policy)
		require.Equal(t, visit.Partial, s.LastStatus, policy)
		step(visit.NotFound, "")
		require.Equal(t, visit.NotFound, s.LastStatus, policy)
		step(visit.Failed, "")
		ofOneKind := 2
		if policy == "swh2026" {
			ofOneKind = 1 // it counts failures of one kind
		}
		require.Equal(t, ofOneKind, s.Failures, policy)
		require.True(t, s.Enabled(), policy)
		for s.Enabled() {
			step(visit.Failed, "")
		}
		require.Equal(t, 3, s.Failures, policy)
		require.Equal(t, visit.ByFailures, s.Disabled, policy)
		step(visit.Gone, "")
		require.Equal(t, visit.ByFailures, s.Disabled, "%s: it keeps its reason", policy)
		require.Equal(t, visit.NotFound, s.LastStatus, policy)
	}
}

func TestARetryAfterAndATimeOfFreshnessCountUntilTheNextVisit(t *testing.T) {
	t.Parallel()
	r := exact()
	s, _ := r.Record(visit.NewState(1, 0, r), visit.Event{Status: visit.Full, At: 10, Digest: "a", NotBefore: 1, FreshUntil: 1}, 0)
	require.EqualValues(t, 1, s.NotBefore)
	require.EqualValues(t, 1, s.FreshUntil)
	for _, none := range []int64{0, -1, visit.Never} {
		after, _ := r.Record(s, visit.Event{Status: visit.Full, At: 20, Digest: "a", NotBefore: none, FreshUntil: none}, 0)
		require.Equal(t, visit.Never, after.NotBefore)
		require.Equal(t, visit.Never, after.FreshUntil)
	}
	after, _ := r.Record(s, visit.Event{Status: visit.Full, At: visit.Latest + 9, Digest: "a", NotBefore: visit.Latest + 9, FreshUntil: visit.Latest + 9}, 0)
	require.Equal(t, []int64{visit.Latest, visit.Latest, visit.Latest}, []int64{after.LastVisit, after.NotBefore, after.FreshUntil})
}

func TestDatesOfAListerAreCountedIfTheyAreNewerThanTheLastSuccess(t *testing.T) {
	t.Parallel()
	s := visit.NewState(1, 50, exact())
	s.LastSuccess = 100
	for _, c := range []struct {
		listed, date, seen, update int64
		dates                      int
	}{
		{60, visit.Never, 60, visit.Never, 0}, {55, 99, 60, 99, 0}, {61, 100, 61, 100, 0}, {62, 101, 62, 101, 1}, {63, 101, 63, 101, 1},
		{64, 90, 64, 101, 1}, {65, 102, 65, 102, 2},
	} {
		s = visit.Listed(s, c.listed, c.date)
		require.Equal(t, c.seen, s.LastSeen, c)
		require.Equal(t, c.update, s.LastUpdate, c)
		require.Equal(t, c.dates, s.Dates, c)
	}
	s.Lister = 7
	require.EqualValues(t, 7, s.DatedBy())
	s = visit.Tell(s, 101)
	require.Equal(t, []int64{101, 1}, []int64{s.LastUpdate, int64(s.Dates)}, "the reports begin again")
	s = visit.Tell(s, 103)
	s = visit.Tell(s, 102)
	require.Equal(t, []int64{103, 2}, []int64{s.LastUpdate, int64(s.Dates)})
	require.Equal(t, visit.TellersID, s.DatedBy())
	s = visit.Listed(s, 70, 200)
	require.EqualValues(t, 103, s.LastUpdate)
	require.EqualValues(t, 70, s.LastSeen)
	for at := range int64(2000) {
		s = visit.Tell(s, 1000+at)
	}
	require.Equal(t, 1000, s.Dates)
}

func TestAnOriginThatIsGoneIsEnabledByALaterDateOnly(t *testing.T) {
	t.Parallel()
	gone := visit.NewState(1, 0, exact())
	gone.LastVisit, gone.Disabled = 100, visit.ByGone
	for date, enabled := range map[int64]bool{visit.Never: false, 99: false, 100: false, 101: true} {
		require.Equal(t, enabled, visit.Listed(gone, 200, date).Enabled(), date)
	}
	require.Equal(t, visit.ByGone, visit.Unlisted(gone).Disabled, "it keeps its reason")
	gone.Disabled = visit.ByFailures
	require.True(t, visit.Listed(gone, 200, visit.Never).Enabled())
}

func TestThePositionIsTheLargestTargetHandedOut(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"seed", "value", "swh2026"} {
		p, err := visit.New(policy, exact())
		require.NoError(t, err)
		s := visit.NewState(1, 0, exact())
		require.EqualValues(t, 5, p.Position(5, s), policy)
		s.Target = 9
		require.EqualValues(t, 9, p.Position(5, s), policy)
		require.EqualValues(t, 10, p.Position(10, s), policy)
		s.LastUpdate = 3
		want := int64(9)
		if policy == "swh2026" {
			want = 5 // only the queue of origins without a date is ordered by targets
		}
		require.Equal(t, want, p.Position(5, s), policy)
	}
	seed, err := visit.New("seed", exact())
	require.NoError(t, err)
	s, _ := seed.Record(visit.NewState(1, 0, exact()), visit.Event{Status: visit.Failed, At: 1}, visit.Never+1)
	require.Equal(t, -visit.Latest+day, s.Target)
	s, _ = seed.Record(visit.NewState(1, 0, exact()), visit.Event{Status: visit.Failed, At: 1}, visit.Latest+5)
	require.Equal(t, visit.Latest, s.Target)
}
