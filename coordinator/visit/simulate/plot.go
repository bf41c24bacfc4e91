package simulate

import (
	"bytes"
	"fmt"
	"html"
	"slices"
)

// The layout of the picture, in pixels.
const (
	panelHeight = 260
	barWide     = 14
	margin      = 50
)

var colours = []string{"#222222", "#2a7f62", "#c0504d", "#4f81bd", "#e0a030", "#8064a2", "#999999"}

// A panel is one quantity of the picture. Its axis ends at most, or sooner at the
// largest value if it is cut; bars that are cut have their number on them.
type panel struct {
	title string
	of    func(Result) float64
	most  float64
	cut   bool
}

var panels = []panel{
	{"freshness (share of time without an unseen change; more is better)", func(r Result) float64 { return r.Freshness }, 1, false},
	{"mean lag in days (less is better; cut at 20)", func(r Result) float64 { return r.LagDays }, 20, true},
	{"delay p95 in days (less is better; cut at 100)", func(r Result) float64 { return r.DelayP95 }, 100, true},
}

// Plot draws results as an SVG: for each quantity a row of bars, grouped by
// scenario, one bar a policy; of several seeds it shows the mean.
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
	group := barWide*len(policies) + 24
	wide := max(2*margin+group*len(scenarios), 640)
	var b bytes.Buffer
	names := margin + panelHeight*len(panels) // where what the scenarios are is said
	high := names + 16*len(scenarios)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12">`+"\n",
		wide, high)
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
		if known := find(s); known >= 0 {
			about = Scenarios[known].About
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s %s</text>`+"\n", margin, names+16*i, html.EscapeString(s), about)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func (p panel) draw(b *bytes.Buffer, results []Result, scenarios, policies []string, top, group int) {
	const tall = panelHeight - 70
	most := p.most
	if p.cut {
		largest := 0.0
		for _, s := range scenarios {
			for _, name := range policies {
				largest = max(largest, mean(results, s, name, p.of))
			}
		}
		most = min(most, largest)
	}
	most = max(most, 1e-9)
	bottom := top + 25 + tall
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", margin, top+12, html.EscapeString(p.title))
	for i := range 5 {
		y := bottom - tall*i/4
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="#ddd"/><text x="%d" y="%d" text-anchor="end">%.3g</text>`+"\n",
			margin, margin+group*len(scenarios), y, y, margin-4, y+4, most*float64(i)/4)
	}
	for i, s := range scenarios {
		left := margin + i*group + 12
		for j, name := range policies {
			x, value := left+j*barWide, mean(results, s, name, p.of)
			high := min(value, most) / most * tall
			fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="%s"/>`+"\n",
				x, float64(bottom)-high, barWide-2, high, colours[j%len(colours)])
			if value > most {
				fmt.Fprintf(b, `<text transform="translate(%d %d) rotate(-90)" text-anchor="end" font-size="10" fill="white">%.0f</text>`+"\n",
					x+barWide-4, bottom-tall+4, value)
			}
		}
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", left, bottom+16, html.EscapeString(s))
	}
}

// mean is over the seeds.
func mean(results []Result, scenario, policy string, of func(Result) float64) float64 {
	sum, n := 0.0, 0
	for _, r := range results {
		if r.Scenario == scenario && r.Policy == policy {
			sum, n = sum+of(r), n+1
		}
	}
	return sum / float64(max(n, 1))
}
