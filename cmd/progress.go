package cmd

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"leasehold/shared/catalog"
)

const (
	barWidth  = 30
	lineEvery = 2 * time.Second // between plain lines
)

// progress shows how far the research is: a bar that redraws itself on a
// terminal, plain lines elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	last     string
	printed  time.Time
}

func (a *app) newProgress() *progress {
	f, ok := a.err.(*os.File)
	return &progress{out: a.err, terminal: ok && term.IsTerminal(int(f.Fd()))}
}

// show prints the totals, and what research cost, if the totals have changed; only then it
// asks what that was.
func (p *progress) show(t catalog.Totals, cost func() string) {
	line := fmt.Sprintf("%d of %d pairs researched (%s, %s), %s, %s", t.Researched, t.Episodes*t.Clips,
		count(t.Episodes, "episode"), count(t.Clips, "clip"), count(t.Findings, "finding"), count(t.Problems, "problem"))
	if line == p.last || !p.terminal && time.Since(p.printed) < lineEvery {
		return
	}
	whole := line
	if c := cost(); c != "" {
		whole += "; " + c
	}
	if p.terminal {
		fmt.Fprintf(p.out, "\r\x1b[K%s %s", bar(t.Researched, t.Episodes*t.Clips), whole)
	} else {
		fmt.Fprintln(p.out, whole)
	}
	p.last, p.printed = line, time.Now()
}

// done leaves the terminal as it was found.
func (p *progress) done() {
	if p.terminal && p.last != "" {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// bar draws part of whole.
func bar(part, whole int) string {
	full := 0
	if whole > 0 {
		full = min(barWidth, barWidth*part/whole)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "]"
}
