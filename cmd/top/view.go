package top

import (
	"fmt"
	"strings"

	"leasehold/models"
)

// A style is how a line is drawn: the parameters of an SGR sequence.
type style string

const (
	plain    style = ""
	bold     style = "1"
	faint    style = "2"
	inverse  style = "7"
	red      style = "31"
	yellow   style = "33"
	boldRed  style = "1;31"
	boldLine style = "1;4"
)

const (
	plainWidth = 80 // of a picture without a terminal
	plainRows  = 20 // of each pane of such a picture
)

var paneTitles = [panes]string{"Attention", "Actions", "Workers", "Tasks"}

// View returns the screen: at most as many lines as the terminal has, none wider than it.
func (m Model) View() string {
	width := m.width
	if width == 0 {
		width = plainWidth
	}
	top := m.header(width)
	bottom := m.footer(width)
	left := m.height - len(top) - len(bottom)
	var middle []string
	switch {
	case m.help:
		middle = helpLines(width)
	case m.details && m.current(m.focus) != nil:
		middle = m.detailLines(*m.current(m.focus), width)
	default:
		middle = m.paneLines(width, left)
	}
	if m.height == 0 {
		return strings.Join(append(top, middle...), "\n") + "\n"
	}
	for len(middle) < left {
		middle = append(middle, "")
	}
	all := append(append(top, middle[:max(0, min(left, len(middle)))]...), bottom...)
	return strings.Join(all[:min(len(all), m.height)], "\n")
}

// draw returns a line of text of others, made fit for the terminal, in a style.
func (m Model) draw(s style, text string, width int) string {
	text = cut(m.clean(text), width)
	if !m.options.Colour || s == plain {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func (m Model) clean(text string) string {
	if m.options.Clean == nil {
		return text
	}
	return m.options.Clean(text)
}

// header returns who asks whom, how old the data are, and the sentence of health.
func (m Model) header(width int) []string {
	if m.data.At.IsZero() {
		if m.failure == "" {
			return []string{m.draw(bold, "leasehold top: asking the coordinator …", width)}
		}
		return []string{m.draw(bold, "leasehold top", width), m.draw(boldRed, m.failure, width)}
	}
	who := m.data.Caller.Name
	if who == "" {
		who = m.data.Caller.ID
	}
	line := fmt.Sprintf("leasehold top  %s  %s  %s old", m.data.Coordinator, who, m.ageOf(m.data.At))
	lines := []string{m.draw(bold, line, width)}
	if m.failure != "" {
		return append(lines, m.draw(boldRed, "cut off; this is the state of "+m.data.At.Local().Format("15:04:05")+": "+m.failure, width))
	}
	h := models.HealthOf(m.data.Attention)
	return append(lines, m.draw(styleOf(h), h.Sentence(), width))
}

// styleOf returns how the sentence about the health is drawn.
func styleOf(h models.Health) style {
	switch {
	case h.Stops > 0:
		return boldRed
	case h.Degrades > 0:
		return yellow
	}
	return plain
}

// footer returns a question, a notice or the filter, and the keys that do something.
func (m Model) footer(width int) []string {
	var keys []string
	for _, o := range m.offers() {
		keys = append(keys, o.key+" "+o.order.label())
	}
	keys = append(keys, "enter more", "/ filter", "tab pane", "? help", "q quit")
	above := m.draw(plain, m.notice, width)
	switch {
	case m.ask != nil:
		above = m.draw(inverse, m.ask.question()+" y: yes, other keys: no", width)
	case m.typing:
		above = m.draw(plain, "filter: "+m.filter+"_", width)
	case m.notice == "" && m.filter != "":
		above = m.draw(faint, "filter: "+m.filter+" (esc removes it)", width)
	}
	return []string{above, m.draw(faint, strings.Join(keys, "  "), width)}
}

// paneLines returns the panes; left lines are free for them. Without a terminal each has all its rows, up to plainRows.
// A low terminal has only the titles of the panes that are not focused.
func (m Model) paneLines(width, left int) (lines []string) {
	var all [panes][]row
	want := [panes]int{}
	for p := range panes {
		all[p] = m.cleanRows(m.rows(p))
		want[p] = max(1, len(all[p]))
	}
	const heads = 2 * int(panes)
	shares, low := share(want, m.focus, left-heads), m.height > 0 && left < heads+int(panes)
	for p := range panes {
		switch {
		case m.height == 0:
			shares[p] = min(want[p], plainRows)
		case low:
			shares[p] = left - int(panes) - 1
		}
		pane := m.onePane(p, all[p], width, max(0, shares[p]))
		if low && p != m.focus {
			pane = pane[:1]
		}
		lines = append(lines, pane...)
	}
	return lines
}

// share divides the lines that are left among the panes. Each gets a few, then the focused one as many as it wants, then
// the others.
func share(want [panes]int, focus pane, left int) (got [panes]int) {
	const few = 2
	take := func(p pane, most int) {
		n := max(0, min(want[p]-got[p], most, left))
		got[p], left = got[p]+n, left-n
	}
	take(focus, few)
	for p := range panes {
		take(p, few-got[p])
	}
	take(focus, left)
	for p := range panes {
		take(p, left)
	}
	return got
}

// cleanRows makes the cells fit for the terminal, before they are measured.
func (m Model) cleanRows(rows []row) []row {
	for i, r := range rows {
		cells := make([]string, len(r.cells))
		for n, c := range r.cells {
			cells[n] = m.clean(c)
		}
		rows[i].cells = cells
	}
	return rows
}

// onePane returns the title, the head and a part of the rows around the selected one.
func (m Model) onePane(p pane, rows []row, width, left int) []string {
	title := fmt.Sprintf("%d %s (%d)", p+1, paneTitles[p], len(rows))
	if p == tasksPane {
		state := taskStates[m.state]
		if state == "" {
			state = "alive"
		}
		more := ""
		if m.data.MoreTasks {
			more = "+"
		}
		title = fmt.Sprintf("%d %s (%d%s, %s)", p+1, paneTitles[p], len(rows), more, state)
	}
	mark, style := "  ", bold
	if p == m.focus && m.height > 0 {
		mark, style = "> ", boldLine
	}
	head, cells := tableLines(columns[p], rows, width-len(mark))
	lines := []string{m.draw(style, mark+title, width), m.draw(faint, "  "+head, width)}
	at := m.indexOf(p, rows)
	from := max(0, min(at-left/2, len(rows)-left))
	for i := from; i < min(len(rows), from+left); i++ {
		mark, s := "  ", rows[i].style
		if i == at && p == m.focus && m.height > 0 {
			mark, s = "> ", inverse
		}
		lines = append(lines, m.draw(s, mark+cells[i], width))
	}
	switch {
	case len(rows) == 0 && left > 0:
		lines = append(lines, m.draw(faint, "  none", width))
	case m.height == 0 && len(rows) > left:
		lines = append(lines, m.draw(faint, fmt.Sprintf("  … and %d more", len(rows)-left), width))
	}
	return lines
}

// detailLines returns all that is known of a row.
func (m Model) detailLines(r row, width int) (lines []string) {
	const names = 14
	for _, d := range r.details {
		if d[1] == "" {
			continue
		}
		for i, part := range wrapped(m.clean(d[1]), max(10, width-names)) {
			name := ""
			if i == 0 {
				name = d[0]
			}
			lines = append(lines, m.draw(plain, pad(cut(name, names-2), names, false)+part, width))
		}
	}
	return append(lines, "", m.draw(faint, "any key: back", width))
}

// helpText lists the keys.
const helpText = `tab, shift+tab, 1 to 4   go to another pane
up, down, k, j           select a row; also pgup, pgdown, home, end
enter                    show all of the selected row
/                        show rows with a text only; esc removes the filter
s                        show tasks of the next state
f                        do what an attention item offers
p                        pause or resume an action
c                        cancel a task, or all tasks of an action
r                        requeue a dead letter, or all of an action
x                        discard a dead letter, or all of an action
d                        drain a worker or a manager
?                        show this help
q, ctrl+c                end

Keys that your role does not allow are not offered. What changes many
tasks or removes something is asked first, with its count; it is refused
if there are more by then.

any key: back`

func helpLines(width int) (lines []string) {
	for line := range strings.Lines(helpText) {
		lines = append(lines, cut(strings.TrimRight(line, "\n"), width))
	}
	return lines
}
