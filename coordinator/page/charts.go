package page

import (
	"fmt"
	"html/template"
	"math"
)

// Charts are SVG that is drawn here, so that they are there without a script. Only numbers and labels that were escaped
// get into them.

// progress draws a fraction from 0 to 1 as a bar.
func progress(fraction float64) template.HTML {
	fraction = math.Max(0, math.Min(1, fraction))
	return template.HTML(fmt.Sprintf(`<svg class="progress" viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label="%.0f %%"><rect width="%.0f" height="4"/></svg>`, fraction*100, fraction*100))
}
