package top

import (
	"strings"
	"unicode/utf8"
)

// A column is a column of a pane.
type column struct {
	head  string
	from  int  // the least width of the screen at which it is shown
	least int  // it is cut to no fewer characters; 0: it is never cut
	right bool // aligned to the right, as numbers are
}

var columns = [panes][]column{
	attentionPane: {{head: "severity"}, {head: "for", right: true}, {head: "what", least: 12}},
	actionsPane: {
		{head: "action", least: 10}, {head: "waiting", right: true}, {head: "oldest", right: true}, {head: "claimed", right: true}, {head: "slots", from: 70, right: true},
		{head: "later", from: 70, right: true}, {head: "dead", right: true}, {head: "ended/min", from: 90, right: true}, {head: "p95", from: 100, right: true}, {head: "state", least: 8},
	},
	workersPane: {
		{head: "worker", least: 10}, {head: "host", from: 70, least: 6}, {head: "version", from: 110, least: 6}, {head: "state", least: 8}, {head: "serves", from: 90, least: 8},
		{head: "tasks", right: true}, {head: "heartbeat", right: true},
	},
	tasksPane: {{head: "task", least: 8}, {head: "action", least: 8}, {head: "state"}, {head: "age", right: true}, {head: "attempts", from: 75, right: true}, {head: "note", least: 8}},
}

const gap = 2 // spaces between columns

// tableLines returns the head and the rows as lines of at most width characters, in the columns that are shown at
// that width.
func tableLines(all []column, rows []row, width int) (head string, lines []string) {
	var shown []int
	for i, c := range all {
		if width >= c.from {
			shown = append(shown, i)
		}
	}
	widths := make([]int, len(all))
	for _, i := range shown {
		widths[i] = utf8.RuneCountInString(all[i].head)
		for _, r := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r.cells[i]))
		}
	}
	narrow(all, shown, widths, width)
	line := func(cell func(int) string) string {
		var b strings.Builder
		for n, i := range shown {
			if n > 0 {
				b.WriteString(strings.Repeat(" ", gap))
			}
			b.WriteString(pad(cut(cell(i), widths[i]), widths[i], all[i].right))
		}
		return cut(strings.TrimRight(b.String(), " "), width)
	}
	for _, r := range rows {
		lines = append(lines, line(func(i int) string { return r.cells[i] }))
	}
	return line(func(i int) string { return strings.ToUpper(all[i].head) }), lines
}

// narrow takes from the widest columns that may be cut until the table has at most width characters.
func narrow(all []column, shown, widths []int, width int) {
	total := gap * (len(shown) - 1)
	for _, i := range shown {
		if all[i].least > 0 {
			widths[i] = min(widths[i], width)
		}
		total += widths[i]
	}
	for ; total > width; total-- {
		widest := -1
		for _, i := range shown {
			if all[i].least > 0 && widths[i] > all[i].least && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// cut shortens text to width characters.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(0, width-1)]) + "…"
}

func pad(text string, width int, right bool) string {
	space := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
	if right {
		return space + text
	}
	return text + space
}

// wrapped divides text into lines of at most width characters, between words where it can.
func wrapped(text string, width int) (lines []string) {
	rest := []rune(text)
	for len(rest) > width {
		at := width
		for at > 0 && rest[at] != ' ' {
			at--
		}
		if at == 0 {
			at = width
		}
		lines = append(lines, strings.TrimRight(string(rest[:at]), " "))
		rest = []rune(strings.TrimLeft(string(rest[at:]), " "))
	}
	return append(lines, string(rest))
}
