package cmd

import (
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"leasehold/models"
	"leasehold/shared/process/wording"
)

// fit is what is done with a column if the table is wider than the terminal.
type fit int

const (
	whole    fit = iota // nothing, because ids are copied, and a part of a number is wrong
	cut                 // its cells are cut at the end
	cutStart            // its cells are cut at the start, because the end of a path tells more
	wrap                // its cells go on in the next lines
)

// table prints rows in aligned columns. It prints all of each cell, unless it prints to a terminal.
type table struct {
	out  io.Writer
	rows [][]string // the first may be the head
	fits []fit      // of the columns; those behind the last one are whole
}

// newTable returns a table with this head; without one if there are no words.
func (a *app) newTable(head ...string) *table {
	t := &table{out: a.out}
	if len(head) > 0 {
		t.row(head...)
	}
	return t
}

// row adds a row. Passwords of URLs are removed here, because a part of one would not be recognized in a
// shortened cell.
func (t *table) row(cells ...string) {
	for i, c := range cells {
		cells[i] = models.Redact(wording.Printable(c))
	}
	t.rows = append(t.rows, cells)
}

// gap is the number of spaces between columns.
const gap = 2

// print writes the rows.
func (t *table) print() error {
	widths := t.widths()
	most := terminalWidth(t.out)
	if most > 0 {
		t.narrow(widths, most)
	}
	var b strings.Builder
	for _, row := range t.rows {
		for more := true; more; {
			var line strings.Builder
			more = t.line(&line, row, widths)
			text := line.String()
			if most > 0 {
				text = strings.TrimRight(text, " ")
			}
			b.WriteString(text + "\n")
		}
	}
	_, err := io.WriteString(t.out, b.String())
	return err
}

// line writes the next line of a row, and leaves in row what further lines have of it. It reports
// whether there are any.
func (t *table) line(b *strings.Builder, row []string, widths []int) (more bool) {
	for i, cell := range row {
		text := cell
		row[i] = ""
		if width := widths[i]; utf8.RuneCountInString(cell) > width {
			switch t.fitOf(i) {
			case cut:
				text = string([]rune(cell)[:width-1]) + "…"
			case cutStart:
				all := []rune(cell)
				text = "…" + string(all[len(all)-width+1:])
			case wrap:
				text, row[i] = splitLine(cell, width)
				more = more || row[i] != ""
			}
		}
		b.WriteString(text)
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(text))+gap))
		}
	}
	return more
}

// splitLine divides text, which is longer than width, before the last word that does not fit, or within a word
// longer than a line.
func splitLine(text string, width int) (line, rest string) {
	all := []rune(text)
	at := width
	for at > 0 && all[at] != ' ' {
		at--
	}
	if at == 0 {
		at = width
	}
	return strings.TrimRight(string(all[:at]), " "), strings.TrimLeft(string(all[at:]), " ")
}

// widths returns the number of characters of the longest cell of each column.
func (t *table) widths() (widths []int) {
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// leastWidth is how narrow a column may become.
const leastWidth = 8

// narrow takes from the widest columns that are not whole until the table has at most most
// characters, or until all of them have their least width.
func (t *table) narrow(widths []int, most int) {
	total := gap * (len(widths) - 1)
	for i, w := range widths {
		if t.fitOf(i) != whole {
			w = min(w, most)
		}
		widths[i] = w
		total += w
	}
	for ; total > most; total-- {
		widest := -1
		for i, w := range widths {
			if t.fitOf(i) != whole && w > leastWidth && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (t *table) fitOf(column int) fit {
	if column < len(t.fits) {
		return t.fits[column]
	}
	return whole
}

// terminalWidth returns the number of columns of the terminal that w writes to; 0 if it is none.
func terminalWidth(w io.Writer) int {
	width, _ := terminalSize(w)
	return width
}

// terminalSize returns the numbers of columns and lines of the terminal that w writes to; 0 if it is none.
func terminalSize(w io.Writer) (width, height int) {
	f := fileOf(w)
	if f == nil {
		return 0, 0
	}
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}
