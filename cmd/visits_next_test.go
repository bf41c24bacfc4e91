package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/api/types"
)

func TestAnExpectedChangeIsNamedByItsWeekday(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for want, e := range map[string]*types.Expected{
		"":                                  nil,
		"; expected Tuesday 06:00 ± 2 h":    {At: monday.Add(21 * time.Hour), Within: 7200},
		"; expected Monday 10:00 ± 30 min":  {At: monday.Add(time.Hour), Within: 1800},
		"; expected 2026-03-30 09:00 ± 3 d": {At: monday.AddDate(0, 0, 28), Within: 3 * 86400},
		"; expected Sunday 09:00 ± 1 h":     {At: monday.AddDate(0, 0, -1), Within: 3600},
	} {
		require.Equal(t, want, expectation(e, monday))
	}
}

func TestAnExplanationNamesTheLastFailure(t *testing.T) {
	t.Parallel()
	require.Empty(t, lastFailure(types.Schedule{}))
	failed := types.Schedule{Failures: 1, History: []types.PastVisit{{Error: "the server answered 500"}, {Error: "older"}}}
	require.Equal(t, "; its last visit failed: the server answered 500", lastFailure(failed))
	failed.Failures = 3
	require.Equal(t, "; 3 failures in a row, the last: the server answered 500", lastFailure(failed))
	failed.History[0].Error = strings.Repeat("ü", 500)
	require.Less(t, len([]rune(lastFailure(failed))), 200)
	failed.History = []types.PastVisit{{Status: "eventful"}}
	require.Empty(t, lastFailure(failed))
}

func TestAnExplanationNamesMaxLag(t *testing.T) {
	t.Parallel()
	next := types.NextVisit{Pool: "known", Rate: 1}
	require.NotContains(t, because(next), "max-lag")
	next.MaxLag = 14 * 86400
	require.Contains(t, because(next), "; not visited for 14 days (max-lag)")
}

func TestAnExplanationNamesTheItemsThatMayHaveBeenMissed(t *testing.T) {
	t.Parallel()
	require.Empty(t, missedItems(0, 0))
	require.Equal(t, "; 12 items may have been missed before 1 visit", missedItems(1, 12))
	require.Equal(t, "; 1 item may have been missed before 2 visits", missedItems(2, 1))
	shown := shownOrigin{Schedule: &types.Schedule{Overflows: 3, Missed: 12}}
	require.Contains(t, shown.columns(), column{head: "lost", cell: "12 items may have been missed before 3 visits", detail: true})
}
