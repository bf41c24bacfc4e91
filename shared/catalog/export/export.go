// Package export writes findings in the formats of editors and players: a label track for Audacity, chapters of
// Podcasting 2.0, and WebVTT. Titles are those of others, so each becomes one line that cannot control a terminal
// and cannot end a cue.
package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/process/wording"
)

// A Cue is a finding for players: From and To are not negative, To is after From, and the
// title is one line.
type Cue struct {
	From, To time.Duration // whole milliseconds
	Title    string
}

// Cues returns those of the findings that are in episode e, in the order of time. An offset
// before the beginning becomes 0, and a cue lasts at least a millisecond, because players refuse
// others.
func Cues(e models.Episode, found []catalog.Finding) []Cue {
	var cues []Cue
	for _, f := range found {
		if f.EpisodeID != e.ID {
			continue
		}
		from := max(0, f.Offset.Duration().Round(time.Millisecond))
		to := max(from+time.Millisecond, (f.Offset + f.Duration).Duration().Round(time.Millisecond))
		cues = append(cues, Cue{from, to, withPart(cmp.Or(wording.OneLine(f.ClipTitle), f.ClipID, "untitled"), f)})
	}
	slices.SortStableFunc(cues, func(a, b Cue) int { return cmp.Compare(a.From, b.From) })
	return cues
}

// withPart appends the part of the clip to its title, unless the whole clip is found.
func withPart(title string, f catalog.Finding) string {
	if part := f.Part(); part != "" {
		return title + " (" + part + ")"
	}
	return title
}

// A chapter is an entry of a JSON chapters document.
type chapter struct {
	Start float64 `json:"startTime"` // seconds
	End   float64 `json:"endTime"`
	Title string  `json:"title"`
}

// WriteChapters writes the document of one episode:
// https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/examples/chapters/jsonChapters.md
func WriteChapters(w io.Writer, e models.Episode, cues []Cue) error {
	doc := struct {
		Version  string    `json:"version"`
		Title    string    `json:"title"`
		Chapters []chapter `json:"chapters"`
	}{"1.2.0", wording.OneLine(e.Title), []chapter{}}
	for _, c := range cues {
		doc.Chapters = append(doc.Chapters, chapter{milliseconds(c.From), milliseconds(c.To), c.Title})
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(doc)
}

// milliseconds returns d in seconds, rounded to three decimals.
func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// vttText escapes the characters that have a meaning in the text of a cue; it leaves no
// "-->".
var vttText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// WriteWebVTT writes cues in the format of https://www.w3.org/TR/webvtt1/.
func WriteWebVTT(w io.Writer, cues []Cue) error {
	var b strings.Builder
	b.WriteString("WEBVTT\n")
	for i, c := range cues {
		fmt.Fprintf(&b, "\n%d\n%s --> %s\n%s\n", i+1, vttTime(c.From), vttTime(c.To), vttText.Replace(c.Title))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// vttTime formats d as hh:mm:ss.ttt; hours may have more digits.
func vttTime(d time.Duration) string {
	ms := d.Milliseconds()
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

// WriteLabels writes a label track for Audacity. If found has several episodes, each label begins with the
// title of its episode, and the order stays; else it sorts found by time. found may be empty.
func WriteLabels(w io.Writer, found []catalog.Finding) error {
	several := slices.ContainsFunc(found, func(f catalog.Finding) bool { return f.EpisodeID != found[0].EpisodeID })
	if !several {
		slices.SortStableFunc(found, func(a, b catalog.Finding) int { return cmp.Compare(a.Offset, b.Offset) })
	}
	for _, f := range found {
		label := f.ClipTitle
		if several {
			label = f.EpisodeTitle + ": " + label
		}
		if _, err := fmt.Fprintf(w, "%.6f\t%.6f\t%s\n", f.Offset, f.Offset+f.Duration, withPart(wording.OneLine(label), f)); err != nil {
			return err
		}
	}
	return nil
}
