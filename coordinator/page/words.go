package page

import (
	"fmt"
	"html/template"
	"strconv"
	"time"

	"leasehold/models"
)

// duration returns a length of time as people say it, with one unit from a second on: "48 ms", "0.4 s", "12 s",
// "41 min", "3 h", "12 d".
func duration(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	switch {
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// seconds is duration for a number of seconds; nothing for 0.
func seconds(s models.Seconds) string {
	if s <= 0 {
		return ""
	}
	return duration(s.Duration())
}

// number returns a number with commas between thousands.
func number(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// count returns a number with its noun, whose plural has an s: "1 task", "2,267 tasks".
func count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return number(n) + " " + noun
}

// maxTitle is how many letters of a title are shown.
const maxTitle = 200

// short returns at most maxTitle letters of a title, because feeds have titles of pages.
func short(title string) string {
	if letters := []rune(title); len(letters) > maxTitle {
		return string(letters[:maxTitle-1]) + "…"
	}
	return title
}

// exactTime is how a page without its script shows a time.
const exactTime = "2006-01-02 15:04:05 UTC"

// timeElement returns a time that the script shows in the viewer's zone. kind is "ago" for the length of time since
// or until then, "at" for the time of day, with its date if that is another day.
func timeElement(kind string, t, now time.Time) template.HTML {
	if t.IsZero() {
		return ""
	}
	t = t.UTC()
	text := t.Format("15:04:05")
	switch {
	case kind == "ago" && t.After(now):
		text = duration(t.Sub(now).Round(time.Second))
	case kind == "ago":
		text = duration(now.Sub(t).Round(time.Second))
	case t.Format(time.DateOnly) != now.UTC().Format(time.DateOnly):
		text = t.Format("2006-01-02 15:04")
	}
	return template.HTML(`<time datetime="` + t.Format("2006-01-02T15:04:05.000Z") + `" title="` + t.Format(exactTime) + `" data-kind="` + kind + `">` + text + `</time>`)
}
