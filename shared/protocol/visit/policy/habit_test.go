package policy_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/shared/protocol/visit/policy"
)

// tuesday is a Tuesday at 06:00.
var tuesday = time.Date(2026, 3, 3, 6, 0, 0, 0, time.UTC).Unix()

// changedAt returns the state of an origin that was visited right after its last change.
func changedAt(times ...int64) policy.State {
	s := policy.NewState(1, 0, policy.DefaultRules())
	last := times[len(times)-1]
	s, _ = policy.DefaultRules().Record(s, policy.Event{Status: policy.Full, At: last + 60, Digest: "a", Times: times, Changes: 1, Span: 1}, 0)
	return s
}

func TestAHabitIsLearnedFromTheDatesOfChanges(t *testing.T) {
	t.Parallel()
	const hour = 3600
	for name, c := range map[string]struct {
		times []int64
		next  int64 // after the last change; 0: no habit
		gap   int64
	}{
		"weekly":              {[]int64{0, 7 * day, 14 * day, 21 * day, 28 * day}, 7 * day, 7 * day},
		"weekly, hours off":   {[]int64{0, 7*day + hour, 14*day - hour, 21 * day, 28*day + 2*hour}, 7*day - 2*hour, 7 * day},
		"weekly, one missed":  {[]int64{0, 7 * day, 21 * day, 28 * day, 35 * day, 42 * day}, 7 * day, 7 * day},
		"on weekdays":         {[]int64{1 * day, 2 * day, 3 * day, 6 * day, 7 * day, 8 * day, 9 * day, 10 * day}, 3 * day, day},
		"every ten days":      {[]int64{0, 10 * day, 20*day + 8*hour, 30 * day, 40 * day}, 10 * day, 10 * day},
		"three only":          {[]int64{0, 7 * day, 14 * day}, 0, 0},
		"at random":           {[]int64{0, 1 * day, 9 * day, 11 * day, 30 * day, 31 * day, 50 * day}, 0, 0},
		"several times a day": {[]int64{0, 4 * hour, 8 * hour, 12 * hour, 16 * hour}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var times []int64
			for _, at := range c.times {
				times = append(times, tuesday+at)
			}
			last := times[len(times)-1]
			h, ok := changedAt(times...).Habit()
			require.Equal(t, c.next != 0, ok, "%+v", h)
			if ok {
				require.InDelta(t, c.gap, h.Gap, 3*hour)
				require.InDelta(t, last+c.next, h.Next, 3*hour, "%s", time.Unix(h.Next, 0).UTC())
				require.Less(t, h.Spread, h.Gap/3)
			}
		})
	}
}

// The gap of these changes fits no number of days, so that only the gaps themselves can be regular.
func TestARhythmMayDeviateTheMoreTheMoreGapsAreKnown(t *testing.T) {
	t.Parallel()
	const gap = 1_000_000
	for _, c := range []struct {
		equal int64 // gaps between the first and the last one, which are shorter and longer
		off   int64 // by how much at most
	}{{1, 90_000}, {2, 240_000}, {3, 425_000}, {4, 660_000}, {5, 875_000}} {
		dates := func(off int64) (times []int64) {
			times = []int64{tuesday, tuesday + gap - off}
			for range c.equal {
				times = append(times, times[len(times)-1]+gap)
			}
			return append(times, times[len(times)-1]+gap+off)
		}
		times := dates(c.off)
		h, ok := changedAt(times...).Habit()
		require.True(t, ok, c)
		spread := max(2*c.off*5/4/(c.equal+2), gap/50)
		require.Equal(t, policy.Habit{Gap: gap, Spread: spread, Next: times[len(times)-1] + gap}, h)
		_, ok = changedAt(dates(c.off + 10)...).Habit()
		require.False(t, ok, c)
	}
}

func TestAHabitHasALeastGapALeastSpreadAndALongestSilence(t *testing.T) {
	t.Parallel()
	every := func(gap int64, n int) policy.State {
		var times []int64
		for i := range n {
			times = append(times, tuesday+int64(i)*gap)
		}
		return changedAt(times...)
	}
	for gap, spread := range map[int64]int64{43_200: 1800, 50_000: 1800, 100_000: 2000, 1_000_000: 20_000} {
		h, ok := every(gap, 4).Habit()
		require.True(t, ok, gap)
		require.Equal(t, policy.Habit{Gap: gap, Spread: spread, Next: tuesday + 4*gap}, h)
		_, ok = every(gap, 3).Habit()
		require.False(t, ok, "three dates")
	}
	_, ok := every(43_199, 8).Habit()
	require.False(t, ok, "visits cannot follow it")
	s := every(1_000_000, 5)
	for silence, want := range map[int64]bool{2_499_999: true, 2_500_000: false} {
		s.LastSuccess = tuesday + 4_000_000 + silence
		_, ok := s.Habit()
		require.Equal(t, want, ok, silence)
	}
}

func TestTheRhythmWithTheSmallerSpreadIsTheHabit(t *testing.T) {
	t.Parallel()
	const hour = 3600
	weekly := []int64{tuesday, tuesday + 7*day + 36*hour, tuesday + 14*day, tuesday + 21*day, tuesday + 28*day, tuesday + 35*day}
	h, ok := changedAt(weekly...).Habit()
	require.True(t, ok)
	require.Equal(t, tuesday+42*day, h.Next)
	require.EqualValues(t, 7*day, h.Gap)
	require.EqualValues(t, 36*hour*5/4/6, h.Spread, "one date of six is off, but two gaps of five")
}

func TestOfManyDatesOfOneVisitTheLast16Count(t *testing.T) {
	t.Parallel()
	times := []int64{tuesday, tuesday + day, tuesday + 2*day}
	for range 15 { // all of them together are one change
		times = append(times, tuesday+3*day)
	}
	s := changedAt(times...)
	require.EqualValues(t, times[17], s.Recent[7])
	require.EqualValues(t, times[2], s.Recent[6])
	require.Zero(t, s.Recent[5], "an earlier one is the 17th from the end")
}

func TestTheLatestDatesOfChangesAreKeptAscendingAndBurstsOnce(t *testing.T) {
	t.Parallel()
	const burst = 3 * 3600
	record := func(s policy.State, at int64, times ...int64) policy.State {
		s, _ = policy.DefaultRules().Record(s, policy.Event{Status: policy.Full, At: at, Digest: "a", Times: times, Changes: 1, Span: 1}, 0)
		return s
	}
	dates := func(s policy.State) (all []int64) {
		for _, at := range s.Recent {
			if at > 0 {
				all = append(all, int64(at))
			}
		}
		return all
	}
	s := record(policy.NewState(1, 0, policy.DefaultRules()), 100*day, -5, 0, 1*day, 1*day+burst, 2*day, 2*day+burst+1, 100*day, 100*day+1)
	require.Equal(t, []int64{1*day + burst, 2 * day, 2*day + burst + 1, 100 * day}, dates(s), "none from before 1970 or after the visit")
	s = record(s, 200*day, 50*day, 100*day-1, 100*day, 150*day)
	require.Equal(t, []int64{1*day + burst, 2 * day, 2*day + burst + 1, 100 * day, 150 * day}, dates(s), "none from before the last one")
	s = record(s, 300*day, 210*day, 220*day, 230*day, 240*day, 250*day)
	require.Equal(t, []int64{100 * day, 150 * day, 210 * day, 220 * day, 230 * day, 240 * day, 250 * day}, dates(s)[1:], "the last eight")
	require.Equal(t, dates(s), dates(record(s, math.MaxUint32+10, math.MaxUint32+1)), "dates after 2106 are not kept")
	require.Equal(t, int64(math.MaxUint32), dates(record(s, math.MaxUint32+10, math.MaxUint32))[7])

	require.Equal(t, s.Recent, policy.RecentOf(s.Recent.Bytes()))
	require.Len(t, s.Recent.Bytes(), 32)
	require.Empty(t, policy.Recent{}.Bytes())
	for n := range 32 {
		require.Zero(t, policy.RecentOf(s.Recent.Bytes()[:n]))
	}
	require.Zero(t, policy.RecentOf(append(s.Recent.Bytes(), 0)))
	descending := s.Recent
	descending[7] = descending[6] - 1
	require.Zero(t, policy.RecentOf(descending.Bytes()))
	descending[7] = descending[6]
	require.Equal(t, descending, policy.RecentOf(descending.Bytes()))
}

func TestAHabitEndsIfTheExpectedChangesDoNotCome(t *testing.T) {
	t.Parallel()
	rules := policy.DefaultRules()
	s := changedAt(tuesday, tuesday+7*day, tuesday+14*day, tuesday+21*day, tuesday+28*day)
	p := policy.Value{Rules: rules}
	require.Equal(t, policy.PoolDue, p.Place(s).Pool)
	late := func(days int64) policy.State {
		after, _ := rules.Record(s, policy.Event{Status: policy.Full, At: tuesday + (28+days)*day, Digest: "a", Span: float64(days)}, 0)
		return after
	}
	require.Equal(t, policy.PoolDue, p.Place(late(8)).Pool)
	require.Greater(t, p.Place(late(8)).Ref, tuesday+36*day, "it came not on the seventh day, so it is late")
	require.Equal(t, policy.PoolKnown, p.Place(late(20)).Pool)
}

func TestAnOriginWithAHabitIsVisitedWhenItsChangeIsDue(t *testing.T) {
	t.Parallel()
	p := policy.Value{Rules: policy.DefaultRules()}
	s := changedAt(tuesday, tuesday+7*day, tuesday+14*day, tuesday+21*day, tuesday+28*day)
	worth := func(days float64) float64 {
		return p.Worth(p.Place(s), policy.Quality{}, tuesday+int64((28+days)*day))
	}
	require.Less(t, worth(5), 0.1)
	require.Greater(t, worth(7.5), 5.0)
	require.InDelta(t, 0, p.Fresh(s, policy.Quality{}, tuesday+36*day), 0.05)
	require.InDelta(t, 1, p.Fresh(s, policy.Quality{}, tuesday+30*day), 0.05)
}

func TestRandomChangesAreHardlyEverAHabit(t *testing.T) {
	t.Parallel()
	rng, habits := rand.New(rand.NewPCG(3, 4)), 0
	const origins = 4000
	for range origins {
		var times []int64
		at := float64(tuesday)
		for range 4 + rng.IntN(5) {
			at += math.Max(rng.ExpFloat64(), 0.01) * 20 * day
			times = append(times, int64(at))
		}
		if _, ok := changedAt(times...).Habit(); ok {
			habits++
		}
	}
	require.Less(t, habits, origins/50)
}

func TestAnyDatesGiveAPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := policy.NewState(1, 0, policy.DefaultRules())
		p := policy.Value{Rules: policy.DefaultRules()}
		for range 3 {
			s, _ = p.Record(s, anyEvent(t), 0)
		}
		if h, ok := s.Habit(); ok {
			require.Positive(t, h.Gap)
			require.Positive(t, h.Spread)
		}
		worth := p.Worth(p.Place(s), policy.Quality{}, rapid.Int64Range(0, policy.Latest).Draw(t, "now"))
		require.False(t, math.IsNaN(worth) || math.IsInf(worth, 0), "%v", worth)
	})
}
