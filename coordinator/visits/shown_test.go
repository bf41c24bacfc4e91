package visits

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

// The reason and its end come from the first that applies: a visit under way, a Retry-After of a requested
// origin, a rest, and the wait for the host.
func TestAScheduleShowsTheReasonForWhichAnOriginWaits(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	now := start.Unix()
	s := politeStore(t, sqlfile.Memory, start, 1)
	s.rules.LongestGap = time.Minute
	for name, c := range map[string]struct {
		at    time.Time
		set   func(*Store)
		why   string
		until int64
	}{
		"nothing":                   {start, func(*Store) {}, policy.Eligible, policy.Never},
		"a gap":                     {start, func(s *Store) { s.cache.gapEnds["h0.example"] = start.UnixMilli() + 1 }, gapOfHost, now + 1},
		"a gap of whole seconds":    {start, func(s *Store) { s.cache.gapEnds["h0.example"] = start.UnixMilli() + 2000 }, gapOfHost, now + 2},
		"visits of its host":        {start, func(s *Store) { s.cache.flights["h0.example"] = 100 }, busyHost, policy.Never},
		"a gap of another host":     {start, func(s *Store) { s.cache.gapEnds["h1.example"] = start.UnixMilli() + 1 }, policy.Eligible, policy.Never},
		"a host without connection": {start, func(s *Store) { s.cache.hosts["h0.example"] = host{until: now + 60} }, policy.Unreachable, now + 60},
	} {
		require.NoError(t, s.write(t.Context(), "set", func() error {
			s.cache.gapEnds, s.cache.flights, s.cache.hosts = map[string]int64{}, map[string]int{}, map[string]host{}
			c.set(s)
			return nil
		}))
		o, err := s.Schedule(t.Context(), c.at, "o0")
		require.NoError(t, err)
		require.Equal(t, c.why, o.Why, name)
		require.Equal(t, c.until, o.Until, name)
		require.Positive(t, o.Value, name)
		require.Equal(t, policy.Never, o.Target, "%s: the policy has no targets", name)
		require.False(t, o.Urgent, name)
	}
}

func TestARequestedOriginWaitsForARetryAfterOnly(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, start, 1)
	look := func(at time.Time) OriginSchedule {
		o, err := s.Schedule(t.Context(), at, "o0")
		require.NoError(t, err)
		return o
	}
	_, err := s.Record(t.Context(), start, []models.Outcome{{Origin: "o0", Status: models.NotFound, At: start}})
	require.NoError(t, err)
	require.Equal(t, policy.NotFoundCooldown, look(start).Why)
	require.Zero(t, look(start).Value, "it does not wait in a queue")
	require.NoError(t, s.SaveNow(t.Context(), start, "o0"))
	require.Equal(t, []any{policy.Eligible, policy.Never, true}, []any{look(start).Why, look(start).Until, look(start).Urgent})
	require.Zero(t, look(start).Value)
	later := start.Add(time.Minute)
	_, err = s.Record(t.Context(), later, []models.Outcome{{Origin: "o0", Status: models.Failed, At: later, RetryAfter: 1000}})
	require.NoError(t, err)
	until := look(later).NotBefore
	require.Equal(t, []any{policy.RetryAfter, until}, []any{look(later).Why, look(later).Until})
	require.Equal(t, policy.Eligible, look(time.Unix(until, 0)).Why)
	require.NoError(t, s.ForceNow(t.Context(), later, "o0"))
	require.Equal(t, policy.Eligible, look(later).Why)
	require.Equal(t, policy.Never, look(later).NotBefore)
	visits, err := s.Claim(t.Context(), later, 1)
	require.NoError(t, err)
	require.Len(t, visits, 1)
	require.Equal(t, []any{policy.InFlight, visits[0].ID, false}, []any{look(later).Why, look(later).Visit, look(later).Urgent})
	require.Zero(t, look(later).Value)
}

func TestNextTellsWhyAndARequestHasNoValue(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 3)
	require.NoError(t, s.SaveNow(t.Context(), now, "o2"))
	next, err := s.Next(t.Context(), now, 9)
	require.NoError(t, err)
	require.Len(t, next, 3)
	rate := s.rules.Rate(policy.NewState(1, 0, s.rules))
	require.Equal(t, Next{Origin: models.Origin{ID: "o2", Kind: models.Feed, URI: "https://h0.example/2"}, Pool: policy.SaveNow, Rate: rate}, next[0])
	require.Equal(t, []any{"o0", "first", int(policy.ClassOf(rate)), rate}, []any{next[1].Origin.ID, next[1].Pool, next[1].Class, next[1].Rate})
	require.Positive(t, next[1].Value)
}

func TestWhatIsDueAndWhenTheNextVisitMayBe(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	due := func(s *Store, at time.Time) bool {
		is, err := s.Due(t.Context(), at)
		require.NoError(t, err)
		return is
	}
	wake := func(s *Store, at time.Time) time.Time {
		when, err := s.Wake(t.Context(), at)
		require.NoError(t, err)
		return when
	}
	s := politeStore(t, sqlfile.Memory, start, 0)
	require.False(t, due(s, start))
	require.Zero(t, wake(s, start))
	s = politeStore(t, sqlfile.Memory, start, 2)
	s.rules.LongestGap = time.Minute
	require.True(t, due(s, start))
	require.Equal(t, start, wake(s, start))

	// A host that waits for its gap will be visited; one that cannot be reached will not.
	require.NoError(t, s.write(t.Context(), "gap", func() error { s.cache.gapEnds["h0.example"] = start.UnixMilli() + 700; return nil }))
	require.True(t, due(s, start))
	require.EqualValues(t, start.UnixMilli()+700, wake(s, start).UnixMilli())
	require.NoError(t, s.write(t.Context(), "rest", func() error { s.cache.hosts["h0.example"] = host{until: start.Unix() + 50}; return nil }))
	require.False(t, due(s, start))
	require.EqualValues(t, start.Unix()+50, wake(s, start).Unix())
	require.NoError(t, s.write(t.Context(), "answer", func() error { s.cache.hosts = map[string]host{}; s.cache.gapEnds = map[string]int64{}; return nil }))

	_, err := s.Record(t.Context(), start, []models.Outcome{{Origin: "o0", Status: models.Eventful, At: start, FreshFor: 100}, {Origin: "o1", Status: models.Eventful, At: start, FreshFor: 900}})
	require.NoError(t, err)
	require.False(t, due(s, start.Add(99*time.Second)))
	require.True(t, due(s, start.Add(100*time.Second)), "its rest is over")
	require.EqualValues(t, start.Unix()+100, wake(s, start).Unix(), "the first rest that ends")
	visits, err := s.Claim(t.Context(), start.Add(100*time.Second), 9)
	require.NoError(t, err)
	require.Len(t, visits, 1)
	require.True(t, due(s, start.Add(101*time.Second)), "it is being visited")
	require.EqualValues(t, start.Unix()+900, wake(s, start.Add(101*time.Second)).Unix())
}

func TestOriginsThatAreDisabledAreMarked(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 4)
	require.NoError(t, s.Disable(t.Context(), now, "o1"))
	require.NoError(t, s.Disable(t.Context(), now, "o3"))
	all := []models.Origin{{ID: "o3"}, {ID: "o0"}, {ID: "unknown"}, {ID: "o1"}}
	require.NoError(t, s.MarkDisabled(t.Context(), all))
	var got []string
	for _, o := range all {
		got = append(got, o.Disabled)
	}
	require.Equal(t, []string{"operator", "", "", "operator"}, got)
	ended, end := context.WithCancel(t.Context())
	end()
	require.Error(t, s.MarkDisabled(ended, all))
}

func TestRatesOfForksAreCountedWithThoseOfOthers(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 0)
	s.policy = planned(t, "value,git=seed", "").policy
	require.NoError(t, s.write(t.Context(), "set", func() error {
		s.cache.queues = map[policy.Queue]int{
			{Pool: policy.PoolKnown, Class: 3}: 5, {Pool: policy.PoolKnown, Class: policy.Classes + 3}: 7, {Pool: policy.PoolQuiet, Lister: 2, Class: 3}: 1, {Pool: policy.PoolFirst, Class: policy.Classes - 1}: 4,
			{Pool: poolUrgent}: 50, {Pool: poolRest}: 60,
		}
		s.cache.pools = map[policy.Pool]int{policy.PoolKnown: 2, policy.PoolKnown + 16: 3, poolRest: 4}
		s.cache.position = map[models.OriginKind]int64{models.Git: now.Unix() - 30, models.Feed: 7}
		s.cache.dates = map[int32]dates{3: {active: 8}}
		return nil
	}))
	m, err := s.Metrics(t.Context(), now)
	require.NoError(t, err)
	want := [policy.Classes]int{3: 13, policy.Classes - 1: 4}
	require.Equal(t, want, m.Rates)
	require.Equal(t, map[string]int{"known": 5, policy.Resting: 4}, m.Pools)
	require.Equal(t, map[models.OriginKind]int64{models.Git: 30}, m.Drift, "the policy of feeds has no targets")
	require.Len(t, m.Position, 1)
	require.Equal(t, map[int32]int{3: 8}, m.Active)
	require.Zero(t, m.OldestNew)
	require.True(t, math.IsNaN(m.Fresh), "no origin exists")
}

func TestRequestsAndRefillsAreCountedByPoolAndSharesWithoutFixedIntervals(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 0)
	s.policy = planned(t, "value", "first-share=0.2,known-share=0.1").policy
	require.NoError(t, s.write(t.Context(), "count", func() error {
		of := func(pool policy.Pool, refill bool) policy.Candidate {
			return policy.Candidate{Place: policy.Place{Pool: pool}, Refill: refill}
		}
		s.countGranted(now, 12, []policy.Candidate{of(poolUrgent, false), of(poolUrgent, true), of(policy.PoolFirst, false), of(policy.PoolKnown, true), of(policy.PoolFixed, false)}, &hosts{deferred: 6})
		require.Equal(t, Facts{Asked: 12, Granted: 5, Urgent: 2, Deferred: 6}, s.cache.facts)
		require.Equal(t, map[string]int64{policy.SaveNow: 2, "first": 1, "known": 1, "fixed": 1}, s.cache.tally.picked)
		require.Equal(t, map[string]int64{policy.SaveNow: 1, "known": 1}, s.cache.tally.refilled)
		require.Equal(t, map[string]int64{"first": 2, "known+due+quiet+signal+failing": 1, "first+known+due+quiet+signal+failing": 7}, s.cache.tally.shares, "of the ten that were not requested")
		return nil
	}))
}

// The clock is wrong if it was set back by more than an hour since the last pick.
func TestOnlyAClockThatWasSetBackByMoreThanAnHourIsFixed(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for ahead, fixed := range map[time.Duration]bool{time.Hour: false, time.Hour + time.Second: true} {
		s := politeStore(t, sqlfile.Memory, now, 1)
		wrong := now.Add(ahead)
		_, err := s.Record(t.Context(), wrong, []models.Outcome{{Origin: "o0", Status: models.Eventful, At: wrong, FreshFor: 60}})
		require.NoError(t, err)
		_, _, err = s.pick(t.Context(), "pick", wrong, 1)
		require.NoError(t, err)
		_, _, err = s.pick(t.Context(), "pick", now, 1)
		require.NoError(t, err)
		o, err := s.Schedule(t.Context(), now, "o0")
		require.NoError(t, err)
		for _, at := range []int64{o.LastScheduled, o.LastVisit, o.LastSuccess} {
			require.Equal(t, fixed, at == now.Unix(), "%v", ahead)
			require.Equal(t, !fixed, at == wrong.Unix(), "%v", ahead)
		}
	}
}

func TestOriginsArePlacedAgainUnlessTheSamePlanPlacedThem(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	s := politeStore(t, sqlfile.Memory, now, 1)
	placed := func(change string) bool {
		if change != "" {
			insert(t, s, "UPDATE placement SET "+change)
		}
		is, _, err := s.isPlaced(t.Context(), "look")
		require.NoError(t, err)
		return is
	}
	require.True(t, placed(""))
	require.Equal(t, "value", s.placedBy())
	require.False(t, placed("revision = revision + 1"))
	require.True(t, placed("revision = revision - 1"))
	require.False(t, placed("policy = 'seed'"))
	require.True(t, placed("policy = 'value'"))
	s.policy.Hosts = policy.HostGroups{{Name: "a", Patterns: []string{"*.a"}}}
	require.False(t, placed(""), "other groups of hosts")
	s.policy.Hosts = nil
	require.False(t, placed(`rules = '{"":{}}'`))
	require.False(t, placed("rules = '{'"), "rules that cannot be read are others")
	insert(t, s, "DELETE FROM placement")
	require.False(t, placed(""))
}
