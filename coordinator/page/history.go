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

// historyCharts are the charts of the overview.
type historyCharts struct {
	Hour, Day template.HTML // empty: nothing was recorded in that time
}

// readHistory draws the last hour by minute and the last day by ten minutes; nil if this coordinator keeps no history.
func (v *visit) readHistory() (*historyCharts, error) {
	draw := func(span string, length time.Duration, step, tick time.Duration) (template.HTML, bool, error) {
		var h types.History
		query := url.Values{"span": {span}, "step_s": {strconv.Itoa(int(step.Seconds()))}}
		there, err := v.getOptional(v.Context(), path("history"), query, &h)
		if !there || err != nil {
			return "", false, err
		}
		to := v.now.Truncate(step)
		r := rateChart{points: h.Points, from: to.Add(-length), to: to, step: step, tick: tick, span: span}
		return r.draw(), true, nil
	}
	hour, there, err := draw("hour", time.Hour, time.Minute, 15*time.Minute)
	if !there || err != nil {
		return nil, err
	}
	day, _, err := draw("day", 24*time.Hour, 10*time.Minute, 6*time.Hour)
	return &historyCharts{hour, day}, err
}

// Geometry of a rate chart, in units of its SVG.
const (
	rateWidth, rateHeight = 640, 150
	rateLeft, rateRight   = 54.0, 634.0
	rateTop, rateBottom   = 12.0, 128.0
)

// rateChart draws the tasks done a minute as a line, and the failed attempts as bars.
type rateChart struct {
	points   []types.HistoryPoint
	from, to time.Time
	step     time.Duration
	tick     time.Duration // between two times below the chart
	span     string        // for its label
	highest  float64       // value at the top
}

func (r *rateChart) x(at time.Time) float64 {
	return rateLeft + float64(at.Sub(r.from))/float64(r.to.Sub(r.from))*(rateRight-rateLeft)
}

func (r *rateChart) y(value float64) float64 {
	return rateBottom - value/r.highest*(rateBottom-rateTop)
}

// rate returns a count of an interval as one of a minute.
func (r *rateChart) rate(n int64) float64 { return float64(n) / r.step.Minutes() }

// draw returns the chart; nothing without points.
func (r *rateChart) draw() template.HTML {
	if len(r.points) == 0 {
		return ""
	}
	var done, failed int64
	most := 0.0
	for _, p := range r.points {
		done, failed = done+p.Done, failed+p.Failed
		most = math.Max(most, math.Max(r.rate(p.Done), r.rate(p.Failed)))
	}
	r.highest = niceTop(most)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart rate" viewBox="0 0 %d %d" role="img" aria-label="%s">`, rateWidth, rateHeight,
		template.HTMLEscapeString(fmt.Sprintf("Tasks a minute in the last %s, at most %s: %s done, %s", r.span, compact(r.highest), count(done, "task"), count(failed, "failed attempt"))))
	for _, part := range []float64{0, .5, 1} {
		y := r.y(part * r.highest)
		fmt.Fprintf(&b, `<path class="grid" d="M%.0f %.1fH%.0f"/><text class="y" x="%.0f" y="%.1f">%s</text>`, rateLeft, y, rateRight, rateLeft-6, y+4, compact(part*r.highest))
	}
	r.drawDone(&b)
	for _, p := range r.points {
		if p.Failed > 0 {
			height := math.Max(1, rateBottom-r.y(r.rate(p.Failed)))
			width := r.x(p.At.Add(r.step)) - r.x(p.At)
			fmt.Fprintf(&b, `<rect class="failed" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, r.x(p.At), rateBottom-height, width*.6, height)
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

// drawDone draws the line of the tasks done and the area below it, with a gap where intervals are missing. A value is in the
// middle of its interval; one between two gaps is a line as long as the interval.
func (r *rateChart) drawDone(b *strings.Builder) {
	for begin := 0; begin < len(r.points); {
		end := begin + 1
		for end < len(r.points) && r.points[end].At.Sub(r.points[end-1].At) == r.step {
			end++
		}
		var line strings.Builder
		left, right := r.x(r.points[begin].At), r.x(r.points[end-1].At.Add(r.step))
		fmt.Fprintf(&line, "M%.1f %.1f", left, r.y(r.rate(r.points[begin].Done)))
		for _, p := range r.points[begin:end] {
			fmt.Fprintf(&line, "L%.1f %.1f", r.x(p.At.Add(r.step/2)), r.y(r.rate(p.Done)))
		}
		fmt.Fprintf(&line, "L%.1f %.1f", right, r.y(r.rate(r.points[end-1].Done)))
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
