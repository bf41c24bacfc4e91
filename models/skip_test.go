package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/models"
)

func TestAFeedThatSkipsAllHoursOrDaysIsNotStarved(t *testing.T) {
	t.Parallel()
	days := []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	var hours []int
	for h := range 24 {
		hours = append(hours, h)
	}
	set, ignored := models.Skip{Hours: hours, Days: []string{"Sunday"}}.Set()
	require.True(t, ignored)
	require.Equal(t, models.Skip{Days: []string{"Sunday"}}, set.Skip())
	set, ignored = models.Skip{Hours: []int{3}, Days: days}.Set()
	require.True(t, ignored)
	require.Equal(t, models.Skip{Hours: []int{3}}, set.Skip())
	rapid.Check(t, func(t *rapid.T) {
		s := models.Skip{Hours: rapid.SliceOf(rapid.IntRange(-2, 30)).Draw(t, "hours"), Days: rapid.SliceOf(rapid.SampledFrom(append(days, "", "monday"))).Draw(t, "days")}
		set, _ := s.Set()
		require.True(t, set.Skip().Valid())
		free := false
		for h := range 7 * 24 {
			free = free || !set.Has(time.Unix(int64(h)*3600, 0))
		}
		require.True(t, free, "some hour of the week is left")
	})
}
