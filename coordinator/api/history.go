package api

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"leasehold/coordinator/history"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
)

// History has the counts of tasks and tuples by interval: a history.Store.
type History interface {
	Read(ctx context.Context, q history.Query) ([]history.Point, error)
	ReadActions(ctx context.Context, q history.Query) (map[string][]history.Point, error)
	ReadSpaces(ctx context.Context, q history.Query) (map[string][]history.SpacePoint, error)
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

// historyRoutes are the routes for the history of tasks and tuples.
func (s *server) historyRoutes() []route {
	return []route{
		on("getHistory", "GET", "/history", "Show how many tasks were created, done, failed, died and waited, by interval, of all actions or of one. Up to 50 actions have counts of their own; the others are the action other. The same is kept of the tuples of spaces.", s.getHistory,
			param{name: "action", doc: "only tasks of this action; all if absent"},
			param{name: "space", doc: "also how many tuples this space had at the end of each interval"},
			param{name: "by", schema: "enum: ['', action, space]", doc: "also each action, or each space, by itself"},
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
	kept := history.Query{Action: shown.Action, Space: q.text("space"), Step: step, From: to.Add(-span.length), To: to}
	points, err := s.History.Read(ctx, kept)
	if err != nil {
		return shown, err
	}
	shown.Points = showPoints(points)
	return shown, s.addHistories(ctx, &shown, kept, q.text("by"))
}

// addHistories adds what a request of the history wants by name: a space, or each action or space.
func (s *server) addHistories(ctx context.Context, shown *types.History, kept history.Query, by string) error {
	if by != "" && by != "action" && by != "space" {
		return fmt.Errorf("by %.64q: %w: want action or space", by, fault.ErrInvalid)
	}
	if by == "action" {
		all, err := s.History.ReadActions(ctx, kept)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			shown.Actions = append(shown.Actions, types.ActionHistory{Action: name, Points: showPoints(all[name])})
		}
	}
	if by != "space" && kept.Space == "" {
		return nil
	}
	all, err := s.History.ReadSpaces(ctx, kept)
	if err != nil {
		return err
	}
	if _, there := all[kept.Space]; kept.Space != "" && !there {
		all[kept.Space] = nil // it had no tuples
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := types.SpaceHistory{Space: name, Points: []types.SpacePoint{}}
		for _, p := range all[name] {
			h.Points = append(h.Points, types.SpacePoint{At: p.At, Visible: p.Visible, Held: p.Held})
		}
		shown.Spaces = append(shown.Spaces, h)
	}
	return nil
}

func showPoints(points []history.Point) []types.HistoryPoint {
	shown := []types.HistoryPoint{}
	for _, p := range points {
		shown = append(shown, types.HistoryPoint{At: p.At, Created: p.Created, Done: p.Done, Failed: p.Failed, Dead: p.Dead, Waiting: p.Waiting})
	}
	return shown
}
