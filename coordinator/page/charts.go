package page

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// Charts are SVG that is drawn here, so that they are there without a script. Only numbers and labels that were escaped
// get into them.

// highest returns the greatest of values, at least 1.
func highest(values []float64) float64 {
	top := 1.0
	for _, v := range values {
		top = math.Max(top, v)
	}
	return top
}

// bars draws values as bars from left to right. label tells a reader without sight what they are, class its colour.
func bars(values []float64, width int, class, label string) template.HTML {
	if len(values) == 0 {
		return ""
	}
	const height = 22
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="spark %s" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s"><path class="axis" d="M0 21.5H%d"/><path d="`,
		template.HTMLEscapeString(class), width, height, width, height, template.HTMLEscapeString(label), width)
	top, step := highest(values), float64(width)/float64(len(values))
	for i, v := range values {
		if v > 0 {
			h := math.Max(1, v/top*(height-1))
			fmt.Fprintf(&b, "M%.1f %dv-%.1fh%.1fv%.1fz", float64(i)*step, height, h, step*.78, h)
		}
	}
	b.WriteString(`"/></svg>`)
	return template.HTML(b.String())
}

// line draws values as a line above its area.
func line(values []float64, width int, label string) template.HTML {
	if len(values) < 2 {
		return ""
	}
	const height = 22
	top, step := highest(values), float64(width-3)/float64(len(values)-1)
	var points strings.Builder
	x, y := 0.0, 0.0
	for i, v := range values {
		x, y = float64(i)*step, height-2-v/top*(height-4)
		fmt.Fprintf(&points, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[i == 0], x, y)
	}
	return template.HTML(fmt.Sprintf(`<svg class="spark" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s"><path class="under" d="%sL%.1f %dL0 %dZ"/><path class="stroke" d="%s"/><circle cx="%.1f" cy="%.1f" r="2"/></svg>`,
		width, height, width, height, template.HTMLEscapeString(label), points.String(), x, height, height, points.String(), x, y))
}

// progress draws a fraction from 0 to 1 as a bar.
func progress(fraction float64) template.HTML {
	fraction = math.Max(0, math.Min(1, fraction))
	return template.HTML(fmt.Sprintf(`<svg class="progress" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="%.0f %%"><rect width="%.0f" height="4"/></svg>`, fraction*100, fraction*100))
}
