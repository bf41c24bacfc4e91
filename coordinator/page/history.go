package page

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"time"

	"leasehold/shared/api/types"
)

// historyCharts are the charts of the overview.
type historyCharts struct {
	Hour, Day template.HTML // empty: nothing was recorded in that time
}

// readHistory draws the last hour by minute and the last day by ten minutes, and the last hour of each action; nil if this
// coordinator keeps no history.
func (v *visit) readHistory() (*historyCharts, map[string]template.HTML, error) {
	hour, err := v.historyOf("hour", time.Minute, "by", "action")
	if hour == nil || err != nil {
		return nil, nil, err
	}
	day, err := v.historyOf("day", 10*time.Minute)
	if day == nil || err != nil {
		return nil, nil, err
	}
	charts := &historyCharts{drawRates(hour, v.now, time.Hour, time.Minute, 15*time.Minute), drawRates(day, v.now, 24*time.Hour, 10*time.Minute, 6*time.Hour)}
	return charts, sparkActions(hour, v.now), nil
}

// drawRates draws the tasks done a minute as a line, and the failed attempts as bars.
func drawRates(h *types.History, now time.Time, length, step, tick time.Duration) template.HTML {
	to := now.Truncate(step)
	r := rateChart{from: to.Add(-length), to: to, step: step, tick: tick}
	var done, failed int64
	for _, p := range h.Points {
		done, failed = done+p.Done, failed+p.Failed
		r.points = append(r.points, chartPoint{p.At, float64(p.Done) / step.Minutes(), float64(p.Failed) / step.Minutes()})
	}
	return r.draw(fmt.Sprintf("Tasks a minute in the last %s, at most %s: %s done, %s", h.Span, compact(r.top()), count(done, "task"), count(failed, "failed attempt")))
}

// Geometry of a rate chart, in units of its SVG.
const (
	rateWidth, rateHeight = 640, 150
	rateLeft, rateRight   = 54.0, 634.0
	rateTop, rateBottom   = 12.0, 128.0
)

// rateChart draws a value as a line, and another one as bars.
type rateChart struct {
	points   []chartPoint
	from, to time.Time
	step     time.Duration
	tick     time.Duration // between two times below the chart
	highest  float64       // value at the top; draw sets it
}

// chartPoint has the values of the interval that begins at a time.
type chartPoint struct {
	at        time.Time
	line, bar float64
}

func (r *rateChart) x(at time.Time) float64 {
	return rateLeft + float64(at.Sub(r.from))/float64(r.to.Sub(r.from))*(rateRight-rateLeft)
}

func (r *rateChart) y(value float64) float64 {
	return rateBottom - value/r.highest*(rateBottom-rateTop)
}

// top returns the value at the top.
func (r *rateChart) top() float64 {
	most := 0.0
	for _, p := range r.points {
		most = math.Max(most, math.Max(p.line, p.bar))
	}
	return niceTop(most)
}

// draw returns the chart with a text for those who do not see it; nothing without points.
func (r *rateChart) draw(label string) template.HTML {
	if len(r.points) == 0 {
		return ""
	}
	r.highest = r.top()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart rate" viewBox="0 0 %d %d" role="img" aria-label="%s">`, rateWidth, rateHeight, template.HTMLEscapeString(label))
	for _, part := range []float64{0, .5, 1} {
		y := r.y(part * r.highest)
		fmt.Fprintf(&b, `<path class="grid" d="M%.0f %.1fH%.0f"/><text class="y" x="%.0f" y="%.1f">%s</text>`, rateLeft, y, rateRight, rateLeft-6, y+4, compact(part*r.highest))
	}
	r.drawLine(&b)
	for _, p := range r.points {
		if p.bar > 0 {
			height := math.Max(1, rateBottom-r.y(p.bar))
			width := r.x(p.at.Add(r.step)) - r.x(p.at)
			fmt.Fprintf(&b, `<rect class="failed" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, r.x(p.at), rateBottom-height, width*.6, height)
		}
	}
	for at := r.from.Truncate(r.tick).Add(r.tick); at.Before(r.to); at = at.Add(r.tick) {
		if x := r.x(at); x > rateLeft+20 && x < rateRight-20 {
			fmt.Fprintf(&b, `<text class="x" x="%.1f" y="%d" data-minute="%s">%s</text>`, x, rateHeight-6, at.UTC().Format(time.RFC3339), at.UTC().Format("15:04"))
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// drawLine draws the line and the area below it, with a gap where intervals are missing. A value is in the
// middle of its interval; one between two gaps is a line as long as the interval.
func (r *rateChart) drawLine(b *strings.Builder) {
	for begin := 0; begin < len(r.points); {
		end := begin + 1
		for end < len(r.points) && r.points[end].at.Sub(r.points[end-1].at) == r.step {
			end++
		}
		var line strings.Builder
		left, right := r.x(r.points[begin].at), r.x(r.points[end-1].at.Add(r.step))
		fmt.Fprintf(&line, "M%.1f %.1f", left, r.y(r.points[begin].line))
		for _, p := range r.points[begin:end] {
			fmt.Fprintf(&line, "L%.1f %.1f", r.x(p.at.Add(r.step/2)), r.y(p.line))
		}
		fmt.Fprintf(&line, "L%.1f %.1f", right, r.y(r.points[end-1].line))
		fmt.Fprintf(b, `<path class="under" d="%sL%.1f %.1fL%.1f %.1fZ"/><path class="line" d="%s"/>`, line.String(), right, rateBottom, left, rateBottom, line.String())
		begin = end
	}
}

// niceTop returns the least of 2, 4, 10, 20, 40, 100 and so on that is not below a value.
func niceTop(value float64) float64 {
	for power := 1.0; ; power *= 10 {
		for _, top := range []float64{2 * power, 4 * power, 10 * power} {
			if top >= value {
				return top
			}
		}
	}
}

// compact returns a whole number in at most four letters: "400", "20k", "1M".
func compact(value float64) string {
	switch {
	case value >= 1e6:
		return strconv.FormatFloat(value/1e6, 'g', 3, 64) + "M"
	case value >= 1e3:
		return strconv.FormatFloat(value/1e3, 'g', 3, 64) + "k"
	}
	return strconv.FormatFloat(value, 'f', 0, 64)
}
