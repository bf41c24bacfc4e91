package bench

import (
	"fmt"
	"os"
	"strings"

	"leasehold/shared/fault"
)

// Write puts the tables between these two lines.
const (
	beginMark = "<!-- bench-clips: begin -->"
	endMark   = "<!-- bench-clips: end -->"
)

// Markdown returns the tables: the summary of all methods and sets, then for the first
// method of each set the results by condition, length and kind.
func Markdown(all []Figures) string {
	var b strings.Builder
	b.WriteString("| set, seed | method | clips | found | wrong | aside | precision | recall | F1 | F1, most of a clip | offset error, median / p95 | wrong in clip-free hours | CPU s, index | CPU s an hour | decoding | heap |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, f := range all {
		t, most := f.Group("all", All), f.Group("all", Most)
		fmt.Fprintf(&b, "| %s %d, %.2f h | %s | %d | %d of %d | %d | %d | %.3f | %.3f | %.3f | %.3f | %.2f / %.1f ms | %d in %.0f h | %s | %s | %.1f s | %.0f MB |\n",
			f.Set, f.Seed, f.Hours, f.Method, f.Clips, t.Hits, t.Played, t.Wrong, t.Aside, t.Precision(), t.Recall(), t.F1(), most.F1(),
			t.ErrorMs(.5), t.ErrorMs(.95), f.FreeWrong, f.FreeHours, f.Index, f.Match, f.DecodeS, f.HeapMB)
	}
	told := map[string]bool{}
	for _, f := range all {
		if !told[f.Set] {
			told[f.Set] = true
			fmt.Fprintf(&b, "\n%s set, %s:\n\n%s", f.Set, f.Method, f.table())
		}
	}
	return b.String()
}

func (s Spread) String() string { return fmt.Sprintf("%.1f (%.1f–%.1f)", s.Median, s.Least, s.Most) }

// table returns the table of all groups of one measurement except "all". The first column names
// the kind of group once, in its first row.
func (f Figures) table() string {
	var b strings.Builder
	b.WriteString("| by | | found | wrong | aside | precision | recall, 95 % interval | F1 | offset error, median / p95 |\n|---|---|---|---|---|---|---|---|---|\n")
	by := ""
	for _, g := range f.Groups {
		if g.By == "all" {
			continue
		}
		title := ""
		if g.By != by {
			by, title = g.By, g.By
		}
		low, high := g.RecallRange()
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %d | %d | %.3f | %.3f (%.2f–%.2f) | %.3f | %.2f / %.1f ms |\n",
			title, g.Name, g.Hits, g.Played, g.Wrong, g.Aside, g.Precision(), g.Recall(), low, high, g.F1(), g.ErrorMs(.5), g.ErrorMs(.95))
	}
	return b.String()
}

// Group returns the group with a name, or an empty one if there is none.
func (f Figures) Group(by, name string) Group {
	for _, g := range f.Groups {
		if g.By == by && g.Name == name {
			return g
		}
	}
	return Group{By: by, Name: name}
}

// Write replaces the text between the marks in the file at path. It fails with fault.ErrInvalid for
// a file without both marks.
func Write(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(old), beginMark)
	_, tail, closed := strings.Cut(rest, endMark)
	if !ok || !closed {
		return fmt.Errorf("bench.Write %s: it lacks the lines %q and %q: %w", path, beginMark, endMark, fault.ErrInvalid)
	}
	return os.WriteFile(path, []byte(head+beginMark+"\n\n"+text+"\n"+endMark+tail), 0o644)
}
