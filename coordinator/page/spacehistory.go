package page

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"leasehold/shared/api/types"
)

// sparkSpaces returns how many tuples spaces had in the last day as pictures, by space; nil if this coordinator keeps no
// history.
func (v *visit) sparkSpaces() (map[string]template.HTML, error) {
	h, err := v.historyOf("day", 10*time.Minute, "by", "space")
	if h == nil || err != nil {
		return nil, err
	}
	sparks := map[string]template.HTML{}
	to := v.now.Truncate(10 * time.Minute)
	for _, space := range h.Spaces {
		s := sparkline{from: to.Add(-24 * time.Hour), to: to, step: 10 * time.Minute, times: timesOf(h), values: map[time.Time]float64{}}
		most := int64(0)
		for _, p := range space.Points {
			s.values[p.At] = float64(p.Visible + p.Held)
			most = max(most, p.Visible+p.Held)
		}
		sparks[space.Space] = s.draw(fmt.Sprintf("at most %s in the last day", count(most, "tuple")))
	}
	return sparks, nil
}

// spaceCharts are the tuples of one space in the last hour and day.
type spaceCharts struct {
	Hour, Day template.HTML
	Table     []spaceTime // the last day, the latest first
}

// spaceTime has the tuples of a space at the end of an hour.
type spaceTime struct {
	At            time.Time
	Visible, Held int64
	Most          int64 // at the ends of its ten minutes, visible and held
}

// readSpaceCharts draws the last hour by minute and the last day by ten minutes; nil if nothing was recorded, or this
// coordinator keeps no history.
func (v *visit) readSpaceCharts(name string) (*spaceCharts, error) {
	hour, err := v.historyOf("hour", time.Minute, "space", name)
	if hour == nil || err != nil {
		return nil, err
	}
	day, err := v.historyOf("day", 10*time.Minute, "space", name)
	if day == nil || err != nil || len(day.Points)+len(hour.Points) == 0 {
		return nil, err
	}
	return &spaceCharts{
		Hour:  drawTuples(hour, v.now, time.Hour, time.Minute, 15*time.Minute),
		Day:   drawTuples(day, v.now, 24*time.Hour, 10*time.Minute, 6*time.Hour),
		Table: hourly(day),
	}, nil
}

// tuplesOf returns the points of the space that a history was asked for: one for each interval that was recorded.
func tuplesOf(h *types.History) []types.SpacePoint {
	there := map[time.Time]types.SpacePoint{}
	for _, s := range h.Spaces {
		for _, p := range s.Points {
			there[p.At] = p
		}
	}
	all := make([]types.SpacePoint, len(h.Points))
	for i, p := range h.Points {
		all[i] = types.SpacePoint{At: p.At, Visible: there[p.At].Visible, Held: there[p.At].Held}
	}
	return all
}

// drawTuples draws the tuples of a space as a line.
func drawTuples(h *types.History, now time.Time, length, step, tick time.Duration) template.HTML {
	to := now.Truncate(step)
	r := rateChart{from: to.Add(-length), to: to, step: step, tick: tick}
	most := int64(0)
	for _, p := range tuplesOf(h) {
		n := p.Visible + p.Held
		most = max(most, n)
		r.points = append(r.points, chartPoint{at: p.At, line: float64(n)})
	}
	latest := int64(0)
	if n := len(r.points); n > 0 {
		latest = int64(r.points[n-1].line)
	}
	return r.draw(fmt.Sprintf("Tuples in the last %s: at most %s, %s at the end", strings.ReplaceAll(h.Span, "-", " "), number(most), number(latest)))
}

// hourly returns the tuples at the end of each hour, the latest first.
func hourly(h *types.History) (table []spaceTime) {
	for _, p := range tuplesOf(h) {
		at := p.At.Truncate(time.Hour)
		if last := len(table) - 1; last < 0 || !table[last].At.Equal(at) {
			table = append(table, spaceTime{At: at})
		}
		row := &table[len(table)-1]
		row.Visible, row.Held, row.Most = p.Visible, p.Held, max(row.Most, p.Visible+p.Held)
	}
	slices.Reverse(table)
	return table
}
