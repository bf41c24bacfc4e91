package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheMedianAndTheDeviationOfNumbers(t *testing.T) {
	t.Parallel()
	numbers := []int64{9, 1, 4}
	require.EqualValues(t, 4, median(numbers))
	require.Equal(t, []int64{9, 1, 4}, numbers, "they stay as they are")
	require.EqualValues(t, 7, median([]int64{7}))
	require.EqualValues(t, 6, median([]int64{20, 4, 8, 1}))
	require.EqualValues(t, 4, deviation([]int64{1, 5, 9, 13}, 7))
}

// gapsOf returns the gaps between times.
func gapsOf(times []uint32) (gaps []int64) {
	for i := 1; i < len(times); i++ {
		gaps = append(gaps, int64(times[i]-times[i-1]))
	}
	return gaps
}

func TestAHabitByTheClockNeedsMostGapsOfWholePeriodsAndOnePhase(t *testing.T) {
	t.Parallel()
	const base, hour = 1000 * day, 3600
	daily := []uint32{base, base + 1*day, base + 2*day, base + 3*day, base + 4*day}
	skipping := func(days ...uint32) (times []uint32) {
		for _, d := range days {
			times = append(times, base+d*day)
		}
		return times
	}
	shifted := func(seconds ...int64) (times []uint32) { // daily, each time later by so many seconds
		for i, s := range seconds {
			times = append(times, uint32(base+int64(i)*day+s))
		}
		return times
	}
	for name, c := range map[string]struct {
		times       []uint32
		gap, period int64
		want        Habit // with Next after the last time; Gap 0: none
	}{
		"daily":                            {daily, day, day, Habit{day, 0, day}},
		"a quarter of a day longer":        {daily, day + day/4, day, Habit{day + day/4, 0, day}},
		"longer by more":                   {daily, day + day/4 + 1, day, Habit{}},
		"a quarter of a day shorter":       {daily, day - day/4, day, Habit{day - day/4, 0, day}},
		"shorter by more":                  {daily, day - day/4 - 1, day, Habit{}},
		"a gap of less than a period":      {daily, day / 8, day, Habit{}},
		"three of four gaps":               {skipping(0, 1, 2, 3, 5), day, day, Habit{day, 0, day}},
		"half of the gaps":                 {skipping(0, 1, 2, 4, 6), day, day, Habit{}},
		"every other day":                  {skipping(0, 2, 4, 6), 2 * day, day, Habit{2 * day, 0, 2 * day}},
		"the last one later":               {shifted(0, 0, 0, 0, 2*hour), day, day, Habit{day, 1800, day - 2*hour}},
		"the last one earlier":             {shifted(0, 0, 0, 0, -2*hour), day, day, Habit{day, 1800, day + 2*hour}},
		"phases as far apart as they may":  {shifted(-3240, 3240, -3240, 3240, 0), day, day, Habit{day, 3240, day}},
		"phases further apart":             {shifted(-3240, 3240, -3240, 3246, 0), day, day, Habit{}},
		"gaps of almost a period and half": {[]uint32{base, base + 12*hour - 1 + day, base + 2*day, base + 3*day}, day, day, Habit{}},
		"weekly":                           {skipping(0, 7, 14, 21), 7 * day, 7 * day, Habit{7 * day, 0, 7 * day}},
		"daily is not weekly":              {daily, day, 7 * day, Habit{}},
		"weekly within a period of a day":  {skipping(0, 7, 14, 21), 7 * day, day, Habit{7 * day, 0, 7 * day}},
		"on weekdays for a week":           {skipping(2, 5, 6, 7, 8, 9), day, day, Habit{day, 0, day}},
		"on weekdays for longer":           {skipping(1, 2, 5, 6, 7, 8, 9), day, day, Habit{day, 0, 3 * day}},
		"on three weekdays":                {skipping(0, 1, 8, 9), day, day, Habit{day, 0, 5 * day}},
		"on two weekdays":                  {skipping(0, 1, 7, 8), day, day, Habit{day, 0, 6 * day}},
		"on three, in just a week":         {skipping(0, 1, 6, 7), day, day, Habit{day, 0, day}},
	} {
		h, fits := clockHabit(c.times, gapsOf(c.times), c.gap, c.period)
		require.Equal(t, c.want.Gap != 0, fits, name)
		if fits {
			c.want.Next += int64(c.times[len(c.times)-1])
		}
		require.Equal(t, c.want, h, name)
	}
}
