package cmd

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
)

// The formats of `leasehold findings`.
const (
	formatTable    = "table"
	formatLabels   = "labels"   // of Audacity: start, end, text, separated by tabs
	formatChapters = "chapters" // of Podcasting 2.0: JSON, version 1.2.0
	formatWebVTT   = "webvtt"   // cues, as browsers and players show them
)

var formats = []string{formatTable, formatLabels, formatChapters, formatWebVTT}

// A cue is a finding for players: from and to are not negative, to is after from, and the
// title is one line.
type cue struct {
	from, to time.Duration // whole milliseconds
	title    string
}

// cuesOf returns those of the findings that are in episode e, in the order of time. An offset
// before the beginning becomes 0, and a cue lasts at least a millisecond, because players refuse
// others.
func cuesOf(e models.Episode, found []catalog.Finding) []cue {
	var cues []cue
	for _, f := range found {
		if f.EpisodeID != e.ID {
			continue
		}
		from := max(0, f.Offset.Duration().Round(time.Millisecond))
		to := max(from+time.Millisecond, (f.Offset + f.Duration).Duration().Round(time.Millisecond))
		cues = append(cues, cue{from, to, withPart(cmp.Or(oneLine(f.ClipTitle), f.ClipID, "untitled"), f)})
	}
	slices.SortStableFunc(cues, func(a, b cue) int { return cmp.Compare(a.from, b.from) })
	return cues
}

// withPart appends the part of the clip to its title, unless the whole clip is found.
func withPart(title string, f catalog.Finding) string {
	if part := f.Part(); part != "" {
		return title + " (" + part + ")"
	}
	return title
}

// oneLine returns s without characters that end a line or a cue or control a terminal.
func oneLine(s string) string {
	return strings.Join(strings.Fields(printable(s)), " ")
}

// A chapter is an entry of a JSON chapters document.
type chapter struct {
	Start float64 `json:"startTime"` // seconds
	End   float64 `json:"endTime"`
	Title string  `json:"title"`
}

// printChapters prints the document of one episode:
// https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/examples/chapters/jsonChapters.md
func (a *app) printChapters(e models.Episode, cues []cue) error {
	doc := struct {
		Version  string    `json:"version"`
		Title    string    `json:"title"`
		Chapters []chapter `json:"chapters"`
	}{"1.2.0", oneLine(e.Title), []chapter{}}
	for _, c := range cues {
		doc.Chapters = append(doc.Chapters, chapter{milliseconds(c.from), milliseconds(c.to), c.title})
	}
	return a.printIndented(doc)
}

// milliseconds returns d in seconds, rounded to three decimals.
func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// vttText escapes the characters that have a meaning in the text of a cue; it leaves no
// "-->".
var vttText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// printWebVTT prints cues in the format of https://www.w3.org/TR/webvtt1/.
func (a *app) printWebVTT(cues []cue) error {
	var b strings.Builder
	b.WriteString("WEBVTT\n")
	for i, c := range cues {
		fmt.Fprintf(&b, "\n%d\n%s --> %s\n%s\n", i+1, vttTime(c.from), vttTime(c.to), vttText.Replace(c.title))
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}

// vttTime formats d as hh:mm:ss.ttt; hours may have more digits.
func vttTime(d time.Duration) string {
	ms := d.Milliseconds()
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

// printLabels prints a label track for Audacity. If found has several episodes, each label begins with the
// title of its episode, and the order stays; else the labels are in the order of time. found may be empty.
func (a *app) printLabels(found []catalog.Finding) error {
	several := slices.ContainsFunc(found, func(f catalog.Finding) bool { return f.EpisodeID != found[0].EpisodeID })
	if !several {
		slices.SortStableFunc(found, func(a, b catalog.Finding) int { return cmp.Compare(a.Offset, b.Offset) })
	}
	for _, f := range found {
		label := f.ClipTitle
		if several {
			label = f.EpisodeTitle + ": " + label
		}
		if _, err := fmt.Fprintf(a.out, "%.6f\t%.6f\t%s\n", f.Offset, f.Offset+f.Duration, withPart(oneLine(label), f)); err != nil {
			return err
		}
	}
	return nil
}
