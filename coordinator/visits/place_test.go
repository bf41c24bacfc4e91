package visits

import (
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/protocol/visit/policy"
)

func TestAnOriginWaitsWhereTheFirstReasonPutsIt(t *testing.T) {
	t.Parallel()
	s := planned(t, "value", "lost-after=2h")
	const now = 1_000_000
	at := func(kind models.OriginKind, change func(*row)) row {
		r := row{State: policy.NewState(1, now-5000, s.rulesOf(kind)), kind: kind}
		change(&r)
		return r
	}
	resting := func(r *row) {
		r.LastScheduled, r.LastVisit, r.LastSuccess, r.LastStatus = now-60, now-50, now-50, policy.Full
		r.FreshUntil = now + 100_000
	}
	disabled := func(r *row) { r.Disabled = policy.ByOperator }
	asked := func(r *row) { r.urgent = 77 }
	program := models.OriginKind("svn")
	for name, c := range map[string]struct {
		r    row
		want policy.Place
	}{
		"new":                     {at(models.Feed, func(*row) {}), policy.Place{Pool: policy.PoolFirst, Class: policy.ClassOf(1.0 / 45), Ref: now - 5000}},
		"under way":               {at(models.Feed, func(r *row) { r.visit = "v"; asked(r); disabled(r) }), policy.Place{Pool: poolFlight, Ref: now + 7200}},
		"of a program, under way": {at(program, func(r *row) { r.visit = "v" }), policy.Place{Pool: poolFlight, Ref: now + 3600}},
		"asked for":               {at(models.Feed, asked), policy.Place{Pool: poolUrgent, Ref: 77}},
		"asked for, and disabled": {at(models.Feed, func(r *row) { asked(r); disabled(r) }), policy.Place{Pool: poolUrgent, Ref: 77}},
		"asked for, and resting":  {at(models.Feed, func(r *row) { asked(r); resting(r) }), policy.Place{Pool: poolUrgent, Ref: 77}},
		"asked to wait":           {at(models.Feed, func(r *row) { asked(r); r.NotBefore = now + 1 }), policy.Place{Pool: poolRest, Ref: now + 1}},
		"the wait is over":        {at(models.Feed, func(r *row) { asked(r); r.NotBefore = now }), policy.Place{Pool: poolUrgent, Ref: 77}},
		"reported":                {at(models.Feed, func(r *row) { resting(r); r.State = policy.Tell(r.State, now) }), policy.Place{Pool: poolTold, Ref: now}},
		"reported within the gap": {at(models.Feed, func(r *row) { resting(r); r.LastScheduled = now - 59; r.State = policy.Tell(r.State, now) }), policy.Place{Pool: poolRest, Ref: now + 1}},
		"reported, not trusted": {at(models.Feed, func(r *row) {
			resting(r)
			r.LastScheduled, r.LastVisit, r.LastSuccess, r.ToldFalse = now-480, now-480, now-480, 3
			r.State = policy.Tell(r.State, now)
		}), policy.Place{Pool: policy.PoolSignal, Lister: policy.TellersID, Class: policy.ClassOf(1.0 / 45), Ref: now - 480}},
		"a program, asked for":  {at(program, func(r *row) { asked(r); resting(r) }), policy.Place{Pool: poolProgram, Ref: -1<<61 + 77}},
		"a program, new":        {at(program, func(*row) {}), policy.Place{Pool: poolProgram, Ref: -1<<60 + now - 5000}},
		"a program, known":      {at(program, func(r *row) { r.LastVisit, r.LastSuccess = 500, 500 }), policy.Place{Pool: poolProgram, Ref: 500}},
		"a program, resting":    {at(program, resting), policy.Place{Pool: poolRest, Ref: now + 100_000}},
		"disabled":              {at(models.Feed, disabled), policy.Place{Pool: poolOff}},
		"disabled, and resting": {at(models.Feed, func(r *row) { disabled(r); resting(r) }), policy.Place{Pool: poolOff}},
		"only names others":     {at(models.Pushed, asked), policy.Place{Pool: poolOff}},
		"resting":               {at(models.Feed, resting), policy.Place{Pool: poolRest, Ref: now + 100_000}},
		"rests until now":       {at(models.Feed, func(r *row) { resting(r); r.LastScheduled, r.FreshUntil = now-10*86400, now }), policy.Place{Pool: policy.PoolKnown, Class: policy.ClassOf(1.0 / 45), Ref: now - 50}},
	} {
		require.Equal(t, c.want, s.placeOf(c.r, now), name)
		claimed := c.r
		claimed.place = c.want
		require.Equal(t, c.want, claimed.waitsAt(), name)
		claimed.claim("w", 5)
		require.Equal(t, policy.Place{Pool: poolFlight}, claimed.waitsAt(), name)
		require.Equal(t, []any{"w", int64(5), int64(0)}, []any{claimed.visit, claimed.LastScheduled, claimed.urgent})
	}
	queued := func(host string, pool policy.Pool) bool {
		return row{host: host, place: policy.Place{Pool: pool}}.queued()
	}
	require.True(t, queued("h", poolUrgent))
	require.False(t, queued("h", poolRest))
	require.False(t, queued("", poolUrgent))
}

func TestTheHostOfAURIIsInLowerCaseAndWithoutTheUsualPort(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]string{
		"https://A.example/x": "a.example", "https://a.example:443/x": "a.example", "https://a.example:80/x": "a.example:80", "http://a.example:80": "a.example",
		"http://a.example:443": "a.example:443", "svn://a.example:80/x": "a.example:80", "/srv/a": "", "file:///srv/a": "", "file://h/srv": "", "a": "", "%zz://": "", "ssh://git@A.example/x": "a.example",
	} {
		require.Equal(t, want, models.HostOf(uri), uri)
	}
}

func TestATimeOfTheFileIsWholeSecondsOrNever(t *testing.T) {
	t.Parallel()
	var at int64
	require.NoError(t, orNever{&at}.Scan(int64(7)))
	require.EqualValues(t, 7, at)
	require.NoError(t, orNever{&at}.Scan(nil))
	require.Equal(t, policy.Never, at)
	require.ErrorContains(t, orNever{&at}.Scan("7"), "want whole seconds")
	require.Nil(t, orNull(policy.Never))
	require.EqualValues(t, 0, orNull(0))
}

func TestTheSlotsForRequestsAreTheirShareAndBeginWithOne(t *testing.T) {
	t.Parallel()
	s := planned(t, "value", "now-share=0.1")
	require.Equal(t, 1, s.reserved(1, 0.1))
	require.Equal(t, 10, s.reserved(100, 0.1))
	sum := 0
	for s.cache.facts.Granted = range int64(100) {
		sum += s.reserved(1, 0.1)
	}
	require.Equal(t, 10, sum)
	s.cache.facts.Granted = 1
	require.Zero(t, s.reserved(9, 0.1))
	require.Equal(t, 1, s.reserved(10, 0.1))
}

func TestTheNumbersByWhichSlotsAreDividedAreThoseOfTheCache(t *testing.T) {
	t.Parallel()
	s := planned(t, "value", "")
	s.cache.counts.A, s.cache.counts.B, s.cache.served = 8, 9, map[policy.Pool]int64{policy.PoolFirst: 77}
	s.cache.underWay = map[string]int{"git": 2, "svn": 1}
	s.cache.groups = map[Group]int{
		{Kind: "git", Group: "A"}: 3, {Kind: "git", Group: "A", Never: true}: 1, {Kind: "git", Group: "B1"}: 4, {Kind: "git", Group: "B2"}: 5, {Kind: "git", Group: "B3"}: 6,
		{Kind: "git", Group: "disabled"}: 9, {Kind: "feed", Group: "B2"}: 7,
	}
	c := s.counts()
	require.Equal(t, []int64{8, 9, 77}, []int64{int64(c.A), int64(c.B), c.ServedBy[policy.PoolFirst]})
	require.Equal(t, map[string]policy.TypeCounts{"git": {A: 4, B: 15, Flight: 2}, "svn": {Flight: 1}, "feed": {B: 7}}, c.Types)
}
