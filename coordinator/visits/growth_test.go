package visits

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/protocol/visit/policy"
)

// planned is a store without a file.
func planned(t *testing.T, policies, rules string) *Store {
	t.Helper()
	plan, err := policy.ParsePlan(policies, rules)
	require.NoError(t, err)
	return &Store{policy: plan, rules: plan.Rules("")}
}

// typed is n origins of a type that change often enough for the rate.
func typed(n int, kind models.OriginKind, rate float64) (all []policy.State) {
	for range n {
		s := policy.NewState(int64(len(all)), 0, policy.DefaultRules())
		s.Type, s.Changes, s.Days = string(kind), rate*1e6, 1e6
		all = append(all, s)
	}
	return all
}

func TestVisitsAreDividedAmongTheKindsBehindFixedIntervals(t *testing.T) {
	t.Parallel()
	s := planned(t, "value", "git.cooldown=12h")
	fixed := typed(2, models.Feed, 1)
	fixed[0].Every, fixed[1].Every = 43_200, 1 // the second one twice a day, and each second
	states := append(append(typed(3, models.Media, 0.5), typed(2, models.Git, 20)...), fixed[0])
	c := Capacity{VisitsPerDay: 1e6}
	s.divideVisits(&c, states, 10)
	require.InDelta(t, 20, c.Fixed, 1e-9)
	require.Len(t, c.Kinds, 2)
	git, media := c.Kinds[0], c.Kinds[1]
	require.Equal(t, models.Git, git.Kind, "in the order of their names")
	require.Equal(t, models.Media, media.Kind)
	require.InDelta(t, 20, git.Origins, 1e-9)
	require.InDelta(t, 30, media.Origins, 1e-9)
	require.InEpsilon(t, 400, git.Changes, 1e-3)
	require.InEpsilon(t, 15, media.Changes, 1e-3)
	require.InDelta(t, 0.5, git.Interval, 1e-9, "the cooldown")
	require.InDelta(t, 40, git.Visits, 1e-6)
	require.InDelta(t, 0.5, media.Interval, 1e-9)
	fresh := func(x float64) float64 { return (1 - math.Exp(-x)) / x }
	require.InDelta(t, (2*fresh(10)+3*fresh(0.25))/5, c.Fresh, 1e-3)

	few := Capacity{VisitsPerDay: 26}
	s.divideVisits(&few, append(typed(3, models.Media, 0.5), fixed[0]), 10)
	require.InEpsilon(t, 6, few.Kinds[0].Visits, 1e-6, "those that the fixed intervals leave")
	require.InEpsilon(t, 5, few.Kinds[0].Interval, 1e-6)
	none := Capacity{VisitsPerDay: 20}
	s.divideVisits(&none, append([]policy.State{fixed[1]}, typed(3, models.Media, 0.5)...), 10)
	require.Equal(t, KindCapacity{Kind: models.Media, Origins: 30, Changes: none.Kinds[0].Changes}, none.Kinds[0])
	require.Zero(t, none.Fresh)
}

func TestAPoolThatGrowsIsWarnedOfAboveItsBound(t *testing.T) {
	t.Parallel()
	const now, week = 1_800_000_000, 7 * 86400
	first := func(ages ...int64) (all []policy.State) {
		for _, age := range ages {
			s := policy.NewState(1, now-age, policy.DefaultRules())
			s.Type = "media"
			all = append(all, s)
		}
		return all
	}
	visited := first(7200)
	visited[0].LastVisit = now
	indexed := func(days ...int) (all []policy.State) { // of seed, whose intervals have these indexes
		for _, index := range days {
			s := policy.NewState(1, 0, policy.DefaultRules())
			s.Type, s.Index = "git", index
			all = append(all, s)
		}
		return all
	}
	fixed := indexed(0)
	fixed[0].Every = 60
	group := func(kind models.OriginKind, name string, n int) Metrics {
		return Metrics{Groups: map[Group]int{{Kind: kind, Group: name}: n}}
	}
	for name, c := range map[string]struct {
		capacity Capacity
		metrics  Metrics
		states   []policy.State
		scale    float64
		want     []string
	}{
		"nothing":                         {Capacity{VisitsPerDay: 1}, Metrics{}, nil, 1, nil},
		"fixed intervals that fit":        {Capacity{VisitsPerDay: 5, Fixed: 5}, Metrics{}, nil, 1, nil},
		"fixed intervals":                 {Capacity{VisitsPerDay: 5, Fixed: 6}, Metrics{}, nil, 1, []string{"fixed intervals need 6 visits a day and the slots hold 5"}},
		"new origins":                     {Capacity{VisitsPerDay: 2}, Metrics{}, first(3601, week-1), 7, []string{"2 new origins a day have waited for an hour or more, and at most 1 first"}},
		"of just an hour, or a week":      {Capacity{VisitsPerDay: 1}, Metrics{}, first(3600, week), 7, nil},
		"new and visited":                 {Capacity{VisitsPerDay: 0.1}, Metrics{}, visited, 7, nil},
		"as many as can be visited":       {Capacity{VisitsPerDay: 4}, Metrics{}, first(7200, 7200), 7, nil},
		"more than others leave":          {Capacity{VisitsPerDay: 3}, Metrics{}, first(7200, 7200), 7, []string{"2 new origins a day"}},
		"targets":                         {Capacity{VisitsPerDay: 5}, Metrics{}, indexed(0, 4), 4, []string{"the intervals of kind git need 6 visits a day and the slots hold 5"}},
		"targets that fit":                {Capacity{VisitsPerDay: 6}, Metrics{}, indexed(0, 4), 4, nil},
		"targets beside a fixed interval": {Capacity{VisitsPerDay: 6}, Metrics{}, append(indexed(0, 4), fixed...), 4, nil},
		"no targets":                      {Capacity{VisitsPerDay: 0.001}, Metrics{}, typed(3, models.OPML, 1), 4, nil},
		"a group without slots":           {Capacity{}, group("feed", "B3", 2), nil, 1, []string{"2 origins of kind feed with dates before their last visit are in a pool without slots"}},
		"an empty group":                  {Capacity{}, group("feed", "B3", 0), nil, 1, nil},
		"another group":                   {Capacity{}, group("feed", "B2", 2), nil, 1, nil},
		"a group that seed visits":        {Capacity{}, group("git", "B3", 2), nil, 1, nil},
		"a group of the metrics only":     {Capacity{}, group("media", "B3", 2), nil, 1, nil},
	} {
		s := planned(t, "value,git=seed,feed=swh2026", "known-share=0.5,git.fudge=0")
		got := s.growthWarnings(c.capacity, c.metrics, c.states, c.scale, now)
		require.Len(t, got, len(c.want), "%s: %v", name, got)
		for i, want := range c.want {
			require.Contains(t, got[i], want, name)
		}
	}
	s := planned(t, "seed", "")
	got := s.growthWarnings(Capacity{VisitsPerDay: 1, Fixed: 2}, Metrics{}, append(indexed(0, 0, 0), typed(5, models.Feed, 1)...), 10, now)
	require.Len(t, got, 3)
	require.IsNonDecreasing(t, got)
}

func TestACapacityWithoutVisitsAssumesASecondForEach(t *testing.T) {
	t.Parallel()
	s, now := openFile(t, sqlfile.Memory), time.Now().Truncate(time.Second)
	c, err := s.Capacity(t.Context(), now, 3)
	require.NoError(t, err)
	require.Equal(t, Capacity{Slots: 3, VisitSeconds: 1, VisitsPerDay: 3 * 86400}, c)
	require.NoError(t, s.List(t.Context(), now, Listing{Origins: hosted(4, 4)}))
	require.NoError(t, s.Disable(t.Context(), now, "o3"))
	c, err = s.Capacity(t.Context(), now, 3)
	require.NoError(t, err)
	require.Len(t, c.Kinds, 1)
	require.InDelta(t, 3, c.Kinds[0].Origins, 1e-9, "one is disabled")
	_, err = s.Record(t.Context(), now, []models.Outcome{{Origin: "o0", Status: models.Eventful, At: now, Took: 0.25}, {Origin: "o1", Status: models.Eventful, At: now, Took: 0.25}})
	require.NoError(t, err)
	c, err = s.Capacity(t.Context(), now, 3)
	require.NoError(t, err)
	require.InDelta(t, 0.25, c.VisitSeconds, 1e-9)
	require.InDelta(t, 12*86400, c.VisitsPerDay, 1e-6)
}
