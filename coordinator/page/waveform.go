package page

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"leasehold/models"
	"leasehold/shared/catalog"
)

// Geometry of a waveform, in units of its SVG.
const (
	waveWidth              = 1180
	waveLeft, waveRight    = 10.0, 1170.0
	waveMiddle, waveHeight = 110.0, 46.0 // half of the height of the loudest bar
	waveAxis               = 164.0
	waveBars               = 580
	waveRows               = 3 // of labels; more findings at one place have none
	waveLabel              = 18.0
	waveLetter             = 7.4 // width of a letter of a label, which is bold
	waveColours            = 6
)

// waveform draws an episode with its findings.
type waveform struct {
	models.Waveform
	findings []foundClip
	sound    string // address; empty: it cannot be heard
}

// x is the place of a time.
func (w waveform) x(at models.Seconds) float64 {
	return waveLeft + math.Max(0, math.Min(1, float64(at/w.Duration)))*(waveRight-waveLeft)
}

// draw returns the picture. Its data are what the script needs to find the time at a place.
func (w waveform) draw() template.HTML {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart wave" viewBox="0 0 %d 186" role="group" aria-label="%s" data-length="%.2f" data-left="%.4f" data-right="%.4f">`, waveWidth,
		template.HTMLEscapeString(fmt.Sprintf("Waveform of %s with %s", length(w.Duration), count(int64(len(w.findings)), "finding"))), float64(w.Duration), waveLeft/waveWidth, waveRight/waveWidth)
	fmt.Fprintf(&b, `<path class="axis" d="M%.0f %.1fH%.0f"/>`, waveLeft, waveAxis, waveRight)
	w.drawAxis(&b)
	w.drawBars(&b)
	w.drawLabels(&b)
	fmt.Fprintf(&b, `<path class="playhead" d="M0 40V%.0f" visibility="hidden"/></svg>`, waveAxis)
	return template.HTML(b.String())
}

// steps are the distances between times on the axis, in seconds.
var steps = []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 36000, 86400}

// drawAxis draws at most eleven times, the last not too close to the end.
func (w waveform) drawAxis(b *strings.Builder) {
	for _, step := range steps {
		if float64(w.Duration)/step > 11 {
			continue
		}
		for at := step; at < float64(w.Duration)*.98; at += step {
			x := w.x(models.Seconds(at))
			fmt.Fprintf(b, `<path class="tick" d="M%.1f %.1fv4"/><text class="x" x="%.1f" y="%.1f">%s</text>`, x, waveAxis, x, waveAxis+17, length(models.Seconds(at)))
		}
		return
	}
}

// drawBars draws the loudness: one path for each colour, the loudest bar at full height.
func (w waveform) drawBars(b *strings.Builder) {
	bars := make([]byte, min(waveBars, len(w.Peaks)))
	loudest := byte(1)
	for i, p := range w.Peaks {
		bar := i * len(bars) / len(w.Peaks)
		bars[bar], loudest = max(bars[bar], p), max(loudest, p)
	}
	paths := map[string]*strings.Builder{}
	for i, p := range bars {
		from := w.Duration * models.Seconds(i) / models.Seconds(len(bars))
		to := w.Duration * models.Seconds(i+1) / models.Seconds(len(bars))
		class := "sound"
		for _, f := range w.findings {
			if f.Offset < to && f.Offset+f.Duration > from {
				class = f.Colour
			}
		}
		if paths[class] == nil {
			paths[class] = &strings.Builder{}
		}
		half := math.Max(1, waveHeight*float64(p)/float64(loudest))
		fmt.Fprintf(paths[class], "M%.1f %.1fv%.1f", w.x((from+to)/2), waveMiddle-half, 2*half)
	}
	for _, class := range append([]string{"sound"}, colours()...) {
		if path := paths[class]; path != nil {
			fmt.Fprintf(b, `<path class="bars %s" d="%s"/>`, class, path)
		}
	}
}

// drawLabels draws the name of the clip above each finding, in the first row where it covers no other.
func (w waveform) drawLabels(b *strings.Builder) {
	var ends [waveRows]float64 // of the last label in each row
	for _, f := range w.findings {
		text := fit(f.ClipTitle, 110)
		if text == "" {
			text = fit(f.ClipID, 110)
		}
		width := float64(len([]rune(text)))*waveLetter + 12
		x := w.x(f.Offset)
		left := math.Min(x, waveRight-width)
		for row := range ends {
			if left < ends[row]+4 {
				continue
			}
			ends[row] = left + width
			y := float64(row) * (waveLabel + 3)
			mark := fmt.Sprintf(`<path class="edge %s" d="M%.1f %.1fV%.1f"/><rect class="label %s" x="%.1f" y="%.1f" width="%.1f" height="%.0f" rx="5"/><text class="in" x="%.1f" y="%.1f">%s</text>`,
				f.Colour, x, y+waveLabel, waveAxis, f.Colour, left, y, width, waveLabel, left+6, y+13, template.HTMLEscapeString(text))
			address := "#" + f.Anchor
			if w.sound != "" {
				address = f.hear(w.sound)
			}
			fmt.Fprintf(b, `<a href="%s" data-hear="%.2f" aria-label="%s">%s</a>`, template.HTMLEscapeString(address), float64(f.Offset), template.HTMLEscapeString(f.ClipTitle+" at "+length(f.Offset)), mark)
			break
		}
	}
}

// foundClip is a finding on the page of its episode.
type foundClip struct {
	catalog.Finding
	Colour string // class
	Anchor string // of its row
	Others int    // other findings of the clip, in this episode and in others; below 0: they were not counted
}

// At is its offset as people write it.
func (f foundClip) At() string { return length(f.Offset) }

// hear is the address of the sound at the finding: browsers begin at the time of a media fragment.
func (f foundClip) hear(sound string) string {
	return fmt.Sprintf("%s#t=%.2f", sound, math.Max(0, float64(f.Offset)))
}

// colours are the classes of the colours of clips.
func colours() []string {
	all := make([]string, waveColours)
	for i := range all {
		all[i] = fmt.Sprintf("c%d", i)
	}
	return all
}

// length returns a position in a recording: "0:12", "1:08:22".
func length(s models.Seconds) string {
	t := int64(math.Round(math.Max(0, float64(s))))
	if t < 3600 {
		return fmt.Sprintf("%d:%02d", t/60, t%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", t/3600, t/60%60, t%60)
}
