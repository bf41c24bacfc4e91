package api

import (
	"context"
	"fmt"
	"time"

	"leasehold/coordinator/history"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

// History has the counts of tasks by interval: a history.Store.
type History interface {
	Read(ctx context.Context, q history.Query) ([]history.Point, error)
}

// historySpan is a span of time that GET /history can show.
type historySpan struct {
	length time.Duration
	step   time.Duration // unless the request names one
}

var historySpans = map[string]historySpan{
	"hour":      {time.Hour, history.Minute},
	"day":       {24 * time.Hour, history.Minute},
	"two-weeks": {14 * 24 * time.Hour, history.TenMinute},
}

// historyRoutes are the routes for the history of tasks.
func (s *server) historyRoutes() []route {
	return []route{
		on("getHistory", "GET", "/history", "Show how many tasks were created, done, failed, died and waited, by interval, of all actions or of one. Up to 50 actions have counts of their own; the others are the action other.", s.getHistory,
			param{name: "action", doc: "only tasks of this action; all if absent"},
			param{name: "span", schema: "enum: ['', hour, day, two-weeks]", doc: "hour (if absent), day or two-weeks, up to now"},
			param{name: "step_s", kind: numberParam, max: 600, schema: "enum: [0, 60, 600]", doc: "length of an interval in seconds: 60, not with two-weeks, or 600; if absent or 0, 60, and 600 with two-weeks"}),
	}
}

// getHistory fails with fault.ErrInvalid for an unknown span or step, and with fault.ErrNotFound if the step is not kept
// for the span, and without a history.
func (s *server) getHistory(ctx context.Context, q *request) (types.History, error) {
	shown := types.History{Action: q.text("action"), Span: q.text("span"), StepS: q.number("step_s"), Points: []types.HistoryPoint{}}
	if shown.Span == "" {
		shown.Span = "hour"
	}
	span, known := historySpans[shown.Span]
	if !known {
		return shown, fmt.Errorf("span %.64q: %w: want hour, day or two-weeks", shown.Span, fault.ErrInvalid)
	}
	step := time.Duration(shown.StepS) * time.Second
	switch {
	case step == 0:
		step = span.step
	case step == history.Minute && span.step == history.TenMinute:
		return shown, fmt.Errorf("step_s 60: %w: minutes are kept for a day; want 600 with two-weeks", fault.ErrNotFound)
	case step != history.Minute && step != history.TenMinute:
		return shown, fmt.Errorf("step_s %d: %w: want 60 or 600", shown.StepS, fault.ErrInvalid)
	}
	shown.StepS = int(step / time.Second)
	if s.History == nil {
		return shown, fmt.Errorf("history: %w: this coordinator keeps none", fault.ErrNotFound)
	}
	to := time.Now().Truncate(step)
	points, err := s.History.Read(ctx, history.Query{Action: shown.Action, Step: step, From: to.Add(-span.length), To: to})
	for _, p := range points {
		shown.Points = append(shown.Points, types.HistoryPoint{At: p.At, Created: p.Created, Done: p.Done, Failed: p.Failed, Dead: p.Dead, Waiting: p.Waiting})
	}
	return shown, err
}
