package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/process/wording"
)

// Limits of the page of one task.
const (
	maxShownJSON   = 16 << 10 // bytes of its data and of its result
	maxShownOutput = 8 << 10  // bytes of the output of an attempt
	maxAttempts    = 20       // that are shown, the latest
	maxParents     = 8        // that are shown
)

// taskView is the page of one task.
type taskView struct {
	types.Task
	Chip     string
	Why      string // why it is not running, or how it ended
	WhyClass string
	More     string // what happens next
	Attempts []attempt
	Failed   int    // all attempts that failed
	Printed  string // by the attempt that resolved it
	Data     shownJSON
	Result   shownJSON
	Time     template.HTML
	Graph    template.HTML
	Retries  string
}

// attempt is an attempt that failed. Number counts from 1.
type attempt struct {
	models.Attempt
	Number int
	Took   string
	Cut    bool // its output is longer
}

// shownJSON is JSON for people; Cut if it is longer.
type shownJSON struct {
	Text string
	Cut  bool
}

// showJSON indents JSON, or leaves it as it is if that is not possible.
func showJSON(data json.RawMessage) (s shownJSON) {
	if len(data) == 0 || bytes.Equal(data, []byte("null")) {
		return s
	}
	var b bytes.Buffer
	if len(data) > maxShownJSON || json.Indent(&b, data, "", "  ") != nil {
		b.Reset()
		b.Write(data)
	}
	s.Text, s.Cut = firstBytes(b.String(), maxShownJSON)
	return s
}

// firstBytes returns the beginning of a text, and whether it is longer.
func firstBytes(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	return strings.ToValidUTF8(text[:most], ""), true
}

// readTask reads the page of one task.
func readTask(v *visit) (any, error) {
	var t types.Task
	if err := v.get(v.Context(), path("tasks", v.PathValue("task")), nil, &t); err != nil {
		return nil, err
	}
	v.title = t.Action + " " + t.ID
	w := taskView{Task: t, Chip: stateClass(t.State), Failed: len(t.History), Data: showJSON(t.Data), Result: showJSON(t.Result)}
	w.explain()
	if last := len(t.History) - 1; t.IsResolvedBy(last) {
		w.Printed = t.History[last].Output
		w.History, w.Failed = t.History[:last], last
	}
	w.showAttempts()
	if left := t.MaxAttempts - t.Attempts; t.MaxAttempts > 0 && left > 0 && !t.HasEnded() {
		w.Retries = count(left, "more attempt") + " " + map[bool]string{true: "is", false: "are"}[left == 1] + " left."
	}
	w.Time = timeline(w.Task, v.now)
	parents, err := v.parentsOf(t)
	w.Graph = graph(v.page, parents, t)
	return w, err
}

// showAttempts sets the attempts that failed, the latest first.
func (w *taskView) showAttempts() {
	t := w.Task
	for i := len(t.History) - 1; i >= 0 && len(w.Attempts) < maxAttempts; i-- {
		a := attempt{Attempt: t.History[i], Number: i + 1}
		a.Output, a.Cut = firstBytes(a.Output, maxShownOutput)
		if !a.ClaimedAt.IsZero() && !a.EndedAt.IsZero() {
			a.Took = duration(a.EndedAt.Sub(a.ClaimedAt))
		}
		w.Attempts = append(w.Attempts, a)
	}
}

// explain sets why the task is not running, or how it ended.
func (w *taskView) explain() {
	switch t := w.Task; {
	case t.Why != nil:
		w.Why, w.WhyClass = sentence(wording.WithoutKind(t.Why.Text)), "warn"
	case t.State == "dead":
		w.Why, w.WhyClass = sentence(cmp.Or(wording.WithoutKind(t.Note), "it is dead")), "bad"
	case t.State == "claimed":
		w.Why, w.WhyClass = "It is running.", "run"
		if t.CurrentClaimant != nil {
			w.Why = "It is running on " + *t.CurrentClaimant + "."
		}
		if p := t.Progress; p != nil {
			w.More = strings.TrimSpace(fmt.Sprintf("%.0f %% %s", p.Fraction*100, p.Text))
		}
	case t.State == "resolved":
		w.Why, w.WhyClass = "It is resolved.", "good"
		if t.Duration != nil {
			w.Why = "It was resolved in " + duration(t.Duration.Duration()) + "."
		}
	case t.Note != "":
		w.Why = sentence(wording.WithoutKind(t.Note))
	}
}

// parentsOf reads the parents of a task. One that is not kept any more has only its id.
func (v *visit) parentsOf(t types.Task) (parents []types.Task, err error) {
	for _, id := range t.After[:min(len(t.After), maxParents)] {
		parent := types.Task{ID: id}
		if _, err := v.getOptional(v.Context(), path("tasks", id), nil, &parent); err != nil {
			return nil, err
		}
		parents = append(parents, parent)
	}
	return parents, nil
}

// Geometry of the timeline, in units of its SVG.
const (
	timelineWidth = 1180
	timelineEnd   = 1110
	letterWidth   = 6.4
)

// span is a part of the timeline.
type span struct {
	from, to           time.Time
	class, name, below string
}

// spansOf returns the parts of the life of a task: attempts, and what lies between them.
func spansOf(t types.Task, now time.Time) (spans []span) {
	at := t.CreatedAt
	wait := func(until time.Time, name string) {
		if until.Sub(at) > 0 {
			spans = append(spans, span{from: at, to: until, class: "wait", below: name})
			at = until
		}
	}
	for i, a := range t.History {
		if a.ClaimedAt.IsZero() || a.EndedAt.IsZero() || a.ClaimedAt.Before(at) {
			continue
		}
		wait(a.ClaimedAt, map[bool]string{true: "waited", false: "back-off"}[len(spans) == 0])
		spans = append(spans, span{a.ClaimedAt, a.EndedAt, "failed", fmt.Sprintf("attempt %d", i+1), fmt.Sprintf("%s, %s: %s", a.Worker, duration(a.EndedAt.Sub(a.ClaimedAt)), a.Error)})
		at = a.EndedAt
	}
	end := now
	if !t.EndedAt.IsZero() {
		end = t.EndedAt
	}
	if t.ClaimedAt != nil && !t.ClaimedAt.Before(at) && t.State != "dead" {
		wait(*t.ClaimedAt, "waited")
		class := map[bool]string{true: "done", false: "running"}[t.HasEnded()]
		who := t.Worker
		if t.CurrentClaimant != nil {
			who = *t.CurrentClaimant
		}
		return append(spans, span{*t.ClaimedAt, end, class, fmt.Sprintf("attempt %d", len(t.History)+1), strings.TrimPrefix(who+", "+duration(end.Sub(*t.ClaimedAt)), ", ")})
	}
	wait(end, map[bool]string{true: "", false: "waits"}[t.HasEnded()])
	return spans
}

// timeline draws the life of a task. Times are texts that the script shows in the viewer's zone.
func timeline(t types.Task, now time.Time) template.HTML {
	spans := spansOf(t, now)
	if len(spans) == 0 || t.CreatedAt.IsZero() {
		return ""
	}
	begin, end := t.CreatedAt, spans[len(spans)-1].to
	if length := end.Sub(begin); length <= 0 {
		return ""
	}
	x := func(at time.Time) float64 {
		return 5 + float64(at.Sub(begin))/float64(end.Sub(begin))*(timelineEnd-5)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart timeline" viewBox="0 0 %d 86" role="img" aria-label="%s">`, timelineWidth, template.HTMLEscapeString(fmt.Sprintf("%s in %s", count(int64(len(t.History)), "failed attempt"), duration(end.Sub(begin)))))
	for i := range 5 {
		at := begin.Add(end.Sub(begin) / 4 * time.Duration(i)).UTC()
		fmt.Fprintf(&b, `<path class="tick" d="M%.1f 16v9"/><text x="%.1f" y="13" data-at="%s">%s</text>`, x(at), x(at)+4, at.Format(time.RFC3339Nano), at.Format("15:04:05"))
	}
	for _, s := range spans {
		width := max(2, x(s.to)-x(s.from)-2)
		fmt.Fprintf(&b, `<rect class="%s" x="%.1f" y="35" width="%.1f" height="20" rx="4"/>`, s.class, x(s.from), width)
		if s.name != "" && width > float64(len(s.name)+2)*letterWidth {
			fmt.Fprintf(&b, `<text class="in" x="%.1f" y="48.5">%s</text>`, x(s.from)+7, template.HTMLEscapeString(s.name))
		}
		if below := fit(s.below, width); below != "" {
			fmt.Fprintf(&b, `<text x="%.1f" y="72">%s</text>`, x(s.from), template.HTMLEscapeString(below))
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// fit returns as much of a text as fits into a width; nothing if that is too little to be read.
func fit(text string, width float64) string {
	letters, most := []rune(text), int(width/letterWidth)
	switch {
	case len(letters) <= most:
		return text
	case most < 8:
		return ""
	}
	return strings.TrimSpace(string(letters[:most-1])) + "…"
}

// graph draws the parents of a task, the task, and an arrow from each.
func graph(p *Page, parents []types.Task, t types.Task) template.HTML {
	if len(parents) == 0 {
		return ""
	}
	var b strings.Builder
	ids := make([]string, len(parents))
	for i, parent := range parents {
		ids[i] = parent.ID
	}
	height := 48 * len(parents)
	middle := height/2 - 4
	fmt.Fprintf(&b, `<svg class="chart graph" viewBox="0 0 300 %d" role="group" aria-label="%s">`, height, template.HTMLEscapeString(strings.Join(ids, ", ")+" before "+t.ID))
	for i := range parents {
		y := 48*i + 20
		fmt.Fprintf(&b, `<path class="edge" d="M128 %dC158 %d 142 %d 172 %d"/>`, y, y, middle, middle)
	}
	for i, parent := range append(slices.Clone(parents), t) {
		left, top := 2, 48*i+2
		if i == len(parents) {
			left, top = 172, middle-18
		}
		box := func(s string) string { return template.HTMLEscapeString(fit(s, 112)) }
		fmt.Fprintf(&b, `<a href="%s"><rect class="box %s" x="%d" y="%d" width="126" height="36" rx="7"/><text class="strong" x="%d" y="%d">%s</text><text x="%d" y="%d">%s</text></a>`,
			template.HTMLEscapeString(p.link("/tasks/"+parent.ID)), stateClass(parent.State), left, top, left+9, top+15, box(cmp.Or(parent.Action, parent.ID)), left+9, top+28, box(cmp.Or(parent.State, "not kept")))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}
