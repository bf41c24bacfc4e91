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

func (f *fakeHistory) ReadActions(_ context.Context, q history.Query) (map[string][]history.Point, error) {
	return map[string][]history.Point{"resize": {{At: q.From, Counts: history.Counts{Done: 4}}}, "mail": nil}, nil
}

func (f *fakeHistory) ReadSpaces(_ context.Context, q history.Query) (map[string][]history.SpacePoint, error) {
	all := map[string][]history.SpacePoint{"task": {{At: q.From, Tuples: history.Tuples{Visible: 3, Held: 2}}}}
	if q.Space == "" {
		all["dead"] = all["task"]
	} else if q.Space != "task" {
		clear(all)
	}
	return all, nil
}

func TestHistoryByActionAndSpace(t *testing.T) {
	t.Parallel()
	h := newFixtureWith(t, func(c *api.Config) { c.History = &fakeHistory{} })
	names := func(query, list, name string) (all []any) {
		status, answer := h.call("GET", "/api/v1/history"+query, "")
		require.Equal(t, http.StatusOK, status, "%s: %v", query, answer)
		require.Len(t, answer["points"], 1, "the sum is there too")
		series, _ := answer[list].([]any)
		for _, one := range series {
			all = append(all, one.(map[string]any)[name], len(one.(map[string]any)["points"].([]any)))
		}
		return all
	}
	require.Equal(t, []any{"mail", 0, "resize", 1}, names("?by=action", "actions", "action"))
	require.Nil(t, names("?by=action", "spaces", "space"))
	require.Equal(t, []any{"dead", 1, "task", 1}, names("?by=space", "spaces", "space"))
	require.Equal(t, []any{"task", 1}, names("?space=task&span=two-weeks", "spaces", "space"))
	require.Equal(t, []any{"none", 0}, names("?space=none", "spaces", "space"))
	require.Nil(t, names("", "spaces", "space"))
	_, answer := h.call("GET", "/api/v1/history?space=task", "")
	point := answer["spaces"].([]any)[0].(map[string]any)["points"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"at": point["at"], "visible": 3.0, "held": 2.0}, point)
	status, answer := h.call("GET", "/api/v1/history?by=host", "")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, answer["detail"], "want action or space")
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
