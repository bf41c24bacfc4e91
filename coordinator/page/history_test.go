package page_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/history"
	"leasehold/coordinator/page"
)

// add adds counts of an action to the history.
func (h *fixture) add(at time.Time, counts history.Counts) {
	h.Helper()
	require.NoError(h, h.history.Add(h.Context(), at, time.Now(), history.Sample{Actions: map[string]history.Counts{"resize": counts}}))
}

func TestTheOverviewHasChartsOfTheLastHourAndDay(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	now := time.Now().Truncate(10 * time.Minute)
	for n := range 30 {
		if n < 10 || n > 19 { // the coordinator did not run in ten minutes
			h.add(now.Add(-time.Duration(n+5)*time.Minute), history.Counts{Done: 30, Failed: int64(n % 2)})
		}
	}
	shown := h.shows("/", "Tasks a minute", "in the last hour, at most 40: 600 tasks done, 10 failed attempts", "in the last day, at most", `data-minute="20`)
	hour, _, _ := strings.Cut(shown[strings.Index(shown, `<svg class="chart rate"`):], "</svg>")
	require.Equal(t, 2, strings.Count(hour, `class="line"`), "the time without a coordinator is a gap")
	require.Equal(t, 10, strings.Count(hour, `class="failed"`))
	for _, y := range regexp.MustCompile(`[ML][\d.]+ ([-\d.]+)`).FindAllStringSubmatch(hour, -1) {
		require.NotContains(t, y[1], "-")
	}
}

func TestActionsHaveAPictureOfTheLastHour(t *testing.T) {
	t.Parallel()
	h, _ := newFixtureWithAnswers(t, map[string]any{"GET /actions": map[string]any{"total": 2, "items": []any{map[string]any{"action": "mail"}, map[string]any{"action": "research"}}}})
	now := time.Now().Truncate(time.Minute)
	for n := range 30 {
		counts := map[string]history.Counts{"research": {Done: int64(n)}, "mail": {Created: 1}}
		require.NoError(t, h.history.Add(t.Context(), now.Add(-time.Duration(n+1)*time.Minute), now, history.Sample{Actions: counts}))
	}
	text := h.shows("/", `aria-label="435 tasks done in the last hour, at most 29 a minute"`)
	require.Equal(t, 1, strings.Count(text, `class="spark"`), "mail did nothing")
}

func TestSpacesHavePicturesAndTablesOfTheirTuples(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	empty := newFixture(t)
	require.NotContains(t, empty.shows("/spaces"), `class="spark"`)
	require.NotContains(t, empty.shows("/spaces/task"), "as a table")
	hour := time.Now().Truncate(time.Hour)
	for n := range 6 * 5 {
		spaces := map[string]history.Tuples{"task": {Visible: int64(n), Held: 2}, "other": {Visible: 3}}
		require.NoError(t, h.history.Add(t.Context(), hour.Add(-time.Duration(n+1)*10*time.Minute), hour, history.Sample{Spaces: spaces}))
	}
	text := h.shows("/spaces", `aria-label="at most 31 tuples in the last day"`, "the spaces that have no counts of their own")
	require.Equal(t, 2, strings.Count(text, `class="spark"`))
	text = h.shows("/spaces/task", "Tuples in the last day: at most 31, 2 at the end", "the last day as a table", `<td class="n">24</td><td class="n">2</td><td class="n">31</td>`)
	require.Equal(t, 5, strings.Count(text, "</time></td><td class=\"n\">"))
	h.shows("/spaces/dead", "Tuples in the last day: at most 0, 0 at the end")
	require.NotContains(t, newFixtureWith(t, func(c *page.Config) { c.API = withoutHistory(c.API) }).shows("/spaces/task"), "last day")
}

func TestChartsWithoutCountsAreLeftOut(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.Contains(t, h.shows("/"), "No minute has been recorded")
	h.add(time.Now().Add(-5*time.Minute), history.Counts{})
	require.Contains(t, h.shows("/tasks"), "Tasks")
	require.NotContains(t, newFixtureWith(t, func(c *page.Config) { c.API = withoutHistory(c.API) }).shows("/"), "Tasks a minute")
}

// withoutHistory is an API of a coordinator that keeps no history.
func withoutHistory(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/api/v1/history") {
			http.NotFound(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
