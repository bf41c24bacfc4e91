package page

import (
	"fmt"
	"html/template"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"leasehold/shared/api/types"
)

// Geometry of a sparkline, in units of its SVG.
const (
	sparkWidth, sparkHeight = 120, 22
	sparkTop, sparkBottom   = 2.0, 20.0
)

// sparkline is a small picture of values over time.
type sparkline struct {
	from, to time.Time
	step     time.Duration
	times    []time.Time           // begins of the intervals that were recorded; others are gaps
	values   map[time.Time]float64 // by begin; an interval without one has 0
}

// draw returns the picture with a text for those who do not see it; nothing if no interval was recorded.
func (s sparkline) draw(label string) template.HTML {
	most := 0.0
	for _, at := range s.times {
		most = math.Max(most, s.values[at])
	}
	var line, area strings.Builder
	for i := 0; i < len(s.times); {
		end := i + 1
		for end < len(s.times) && s.times[end].Sub(s.times[end-1]) == s.step {
			end++
		}
		left, right := s.x(s.times[i]), s.x(s.times[end-1].Add(s.step))
		path := fmt.Sprintf("M%.1f %.1f", left, s.y(s.times[i], most))
		for _, at := range s.times[i:end] {
			path += fmt.Sprintf("L%.1f %.1f", s.x(at.Add(s.step/2)), s.y(at, most))
		}
		path += fmt.Sprintf("L%.1f %.1f", right, s.y(s.times[end-1], most))
		line.WriteString(path)
		fmt.Fprintf(&area, "%sL%.1f %.1fL%.1f %.1fZ", path, right, sparkBottom, left, sparkBottom)
		i = end
	}
	if line.Len() == 0 {
		return ""
	}
	return template.HTML(fmt.Sprintf(`<svg class="spark" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s"><path class="under" d="%s"/><path class="line" d="%s"/></svg>`,
		sparkWidth, sparkHeight, sparkWidth, sparkHeight, template.HTMLEscapeString(label), area.String(), line.String()))
}

func (s sparkline) x(at time.Time) float64 {
	part := float64(at.Sub(s.from)) / float64(s.to.Sub(s.from))
	return math.Max(0, math.Min(1, part)) * sparkWidth
}

func (s sparkline) y(at time.Time, most float64) float64 {
	return sparkBottom - s.values[at]/math.Max(most, 1)*(sparkBottom-sparkTop)
}

// historyOf reads the history of a span; nil if this coordinator keeps none.
func (v *visit) historyOf(span string, step time.Duration, more ...string) (*types.History, error) {
	query := url.Values{"span": {span}, "step_s": {strconv.Itoa(int(step.Seconds()))}}
	for i := 0; i+1 < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	var h types.History
	there, err := v.getOptional(v.Context(), path("history"), query, &h)
	if !there || err != nil {
		return nil, err
	}
	return &h, nil
}

// timesOf returns the begins of the intervals that were recorded.
func timesOf(h *types.History) []time.Time {
	all := make([]time.Time, len(h.Points))
	for i, p := range h.Points {
		all[i] = p.At
	}
	return all
}

// sparkActions returns the tasks done a minute in the last hour as pictures, by action.
func sparkActions(h *types.History, now time.Time) map[string]template.HTML {
	sparks := map[string]template.HTML{}
	to := now.Truncate(time.Minute)
	for _, a := range h.Actions {
		s := sparkline{from: to.Add(-time.Hour), to: to, step: time.Minute, times: timesOf(h), values: map[time.Time]float64{}}
		var done, most int64
		for _, p := range a.Points {
			s.values[p.At] = float64(p.Done)
			done, most = done+p.Done, max(most, p.Done)
		}
		if done > 0 {
			sparks[a.Action] = s.draw(fmt.Sprintf("%s done in the last hour, at most %s a minute", count(done, "task"), number(most)))
		}
	}
	return sparks
}
