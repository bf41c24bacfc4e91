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
