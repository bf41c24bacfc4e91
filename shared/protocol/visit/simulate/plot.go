package simulate

import (
	"bytes"
	"fmt"
	"html"
	"slices"
)

// The layout of the plot, in pixels.
const (
	panelHeight = 260
	barWidth    = 14
	margin      = 50
)

var colours = []string{"#222222", "#2a7f62", "#c0504d", "#4f81bd", "#e0a030", "#8064a2", "#999999"}

// A panel plots one quantity. If fit is set the axis ends at the largest value, or at axisEnd if axisEnd is
// smaller; longer bars are cut and show their value as a number.
type panel struct {
	title   string
	value   func(Result) float64
	axisEnd float64
	fit     bool
}

var panels = []panel{
	{"freshness (share of time without an unseen change; more is better)", func(r Result) float64 { return r.Freshness }, 1, false},
	{"mean lag in days (less is better; cut at 20)", func(r Result) float64 { return r.LagDays }, 20, true},
	{"delay p95 in days (less is better; cut at 100)", func(r Result) float64 { return r.DelayP95 }, 100, true},
}

// Plot draws results as an SVG: a row of bars for each quantity, grouped by scenario, with one
// bar for each policy (the mean over the seeds). Names come from files, so they are escaped.
func Plot(results []Result) []byte {
	var scenarios, policies []string
	for _, r := range results {
		if !slices.Contains(scenarios, r.Scenario) {
			scenarios = append(scenarios, r.Scenario)
		}
		if !slices.Contains(policies, r.Policy) {
			policies = append(policies, r.Policy)
		}
	}
	group := barWidth*len(policies) + 24
	width := max(2*margin+group*len(scenarios), 640)
	var b bytes.Buffer
	legendTop := margin + panelHeight*len(panels)
	height := legendTop + 16*len(scenarios)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12">`+"\n",
		width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	for i, p := range policies {
		x := margin + i*100
		fmt.Fprintf(&b, `<rect x="%d" y="12" width="12" height="12" fill="%s"/><text x="%d" y="22">%s</text>`+"\n",
			x, colours[i%len(colours)], x+16, html.EscapeString(p))
	}
	for i, p := range panels {
		p.draw(&b, results, scenarios, policies, margin+i*panelHeight, group)
	}
	for i, s := range scenarios {
		about := ""
		if known := scenarioIndex(s); known >= 0 {
			about = Scenarios[known].About
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s %s</text>`+"\n", margin, legendTop+16*i, html.EscapeString(s), about)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// draw draws one quantity below the pixel top: an axis with five lines, and a group of bars, of a
// width of group pixels, for each scenario. The axis never ends at 0, so that no height is
// divided by it.
func (p panel) draw(b *bytes.Buffer, results []Result, scenarios, policies []string, top, group int) {
	const plotHeight = panelHeight - 70
	axisEnd := p.axisEnd
	if p.fit {
		largest := 0.0
		for _, s := range scenarios {
			for _, name := range policies {
				largest = max(largest, mean(results, s, name, p.value))
			}
		}
		axisEnd = min(axisEnd, largest)
	}
	axisEnd = max(axisEnd, 1e-9)
	bottom := top + 25 + plotHeight
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", margin, top+12, html.EscapeString(p.title))
	for i := range 5 {
		y := bottom - plotHeight*i/4
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="#ddd"/><text x="%d" y="%d" text-anchor="end">%.3g</text>`+"\n",
			margin, margin+group*len(scenarios), y, y, margin-4, y+4, axisEnd*float64(i)/4)
	}
	for i, s := range scenarios {
		left := margin + i*group + 12
		for j, name := range policies {
			x, value := left+j*barWidth, mean(results, s, name, p.value)
			height := min(value, axisEnd) / axisEnd * plotHeight
			fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="%s"/>`+"\n",
				x, float64(bottom)-height, barWidth-2, height, colours[j%len(colours)])
			if value > axisEnd {
				fmt.Fprintf(b, `<text transform="translate(%d %d) rotate(-90)" text-anchor="end" font-size="10" fill="white">%.0f</text>`+"\n",
					x+barWidth-4, bottom-plotHeight+4, value)
			}
		}
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", left, bottom+16, html.EscapeString(s))
	}
}

// mean returns the mean of a quantity over the seeds.
func mean(results []Result, scenario, policy string, quantity func(Result) float64) float64 {
	sum, n := 0.0, 0
	for _, r := range results {
		if r.Scenario == scenario && r.Policy == policy {
			sum, n = sum+quantity(r), n+1
		}
	}
	return sum / float64(max(n, 1))
}
