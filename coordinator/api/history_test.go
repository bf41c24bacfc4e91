package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/coordinator/history"
)

// fakeHistory answers with a point at the begin of the query.
type fakeHistory struct{ asked history.Query }

func (f *fakeHistory) Read(_ context.Context, q history.Query) ([]history.Point, error) {
	f.asked = q
	return []history.Point{{At: q.From, Counts: history.Counts{Created: 5, Done: 4, Failed: 3, Dead: 2, Waiting: 1}}}, nil
}

func TestHistoryShowsEndedIntervalsOfASpan(t *testing.T) {
	t.Parallel()
	kept := &fakeHistory{}
	h := newFixtureWith(t, func(c *api.Config) { c.History = kept })
	for _, c := range []struct {
		query, span, action string
		step, length        time.Duration
	}{
		{"", "hour", "", time.Minute, time.Hour},
		{"?span=day&action=resize", "day", "resize", time.Minute, 24 * time.Hour},
		{"?span=day&step_s=600", "day", "", 10 * time.Minute, 24 * time.Hour},
		{"?span=two-weeks&action=a%20b%3C", "two-weeks", "a b<", 10 * time.Minute, 14 * 24 * time.Hour},
	} {
		status, answer := h.call("GET", "/api/v1/history"+c.query, "")
		require.Equal(t, http.StatusOK, status, "%s: %v", c.query, answer)
		require.Equal(t, c.span, answer["span"])
		require.InDelta(t, c.step.Seconds(), answer["step_s"], 0)
		require.Equal(t, map[string]any{"at": kept.asked.From.UTC().Format(time.RFC3339), "created": 5.0, "done": 4.0, "failed": 3.0, "dead": 2.0, "waiting": 1.0}, answer["points"].([]any)[0])
		require.Equal(t, c.action, kept.asked.Action)
		require.Equal(t, c.step, kept.asked.Step)
		require.Equal(t, c.length, kept.asked.To.Sub(kept.asked.From))
		require.WithinDuration(t, time.Now(), kept.asked.To, c.step)
		require.True(t, kept.asked.To.Equal(kept.asked.To.Truncate(c.step)), "the interval of now has not ended")
	}
}

func TestHistoryRefusesWhatIsNotKept(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *api.Config) { c.History = &fakeHistory{} })
	status, answer := h.call("GET", "/api/v1/history?span=two-weeks&step_s=60", "")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, answer["detail"], "want 600 with two-weeks")
	for query, want := range map[string]string{
		"span=week": "want hour, day or two-weeks",
		"step_s=30": "want 60 or 600",
		"step_s=-1": "want a whole number from 0 to 600",
	} {
		status, answer := h.call("GET", "/api/v1/history?"+query, "")
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, answer["detail"], want, query)
	}
	status, _ = newFixture(t).call("GET", "/api/v1/history", "")
	require.Equal(t, http.StatusNotFound, status, "without a history")
}
