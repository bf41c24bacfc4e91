package cmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/clips"
)

const (
	barWidth    = 32                     // columns, if the terminal is wide enough
	redrawEvery = 100 * time.Millisecond // interval of bars
	plainEvery  = 2 * time.Second        // interval of plain lines
)

// isTerminal reports whether w is a terminal of any kind, whose reader others' text must not
// deceive.
func isTerminal(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && term.IsTerminal(int(f.Fd()))
}

// canRedraw reports whether w is a terminal that has colours and can redraw lines.
func canRedraw(w io.Writer) bool {
	kind := os.Getenv("TERM")
	return isTerminal(w) && kind != "dumb" && kind != ""
}

// bars is a line with a bar, and a line of text below it, that are redrawn on the
// terminal at standard error. Neither line is wider than the terminal, because mpb
// truncates them. While bars are open, the log is written above them. Both go to the file
// itself, because mpb has to know that it is a terminal, so they are redacted here. The
// methods of a nil *bars do nothing.
type bars struct {
	app       *app
	container *mpb.Progress
	lines     [2]*mpb.Bar

	mu   sync.Mutex // guards text
	text [2]string
}

// newBars opens bars; it returns nil if standard error is not a terminal.
func (a *app) newBars() *bars {
	if !canRedraw(a.err) {
		return nil
	}
	b := &bars{app: a, container: mpb.New(mpb.WithOutput(fileOf(a.err)), mpb.WithRefreshRate(redrawEvery))}
	style := mpb.BarStyle().Lbound("[").Filler("#").Tip("#").Padding(".").Rbound("]")
	for i, build := range []mpb.BarFillerBuilder{style, mpb.NopStyle()} {
		line := decor.Any(func(decor.Statistics) string {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.text[i]
		})
		// The total of 0 is a condition of SetTotal.
		b.lines[i] = b.container.New(0, build, mpb.BarWidth(barWidth), mpb.BarFillerTrim(), mpb.PrependDecorators(line))
	}
	a.log.divert(&redactor{to: b.container})
	return b
}

// show draws done of total, with a text before the bar and one below it. Both are one line. Without
// bars, which is nil, it draws nothing.
func (b *bars) show(done, total int64, text, below string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	b.text = [2]string{models.Redact(text) + " ", models.Redact(below)}
	b.mu.Unlock()
	b.lines[0].SetTotal(max(total, 1), false)
	b.lines[0].SetCurrent(done)
}

// close removes both lines from the terminal and waits until it is done.
func (b *bars) close() {
	if b == nil {
		return
	}
	b.app.log.divert(b.app.err)
	for _, line := range b.lines {
		line.Abort(true)
	}
	b.container.Wait()
}

// logWriter writes to standard error, or above the bars while they are open. It may be
// used concurrently.
type logWriter struct {
	mu sync.Mutex // guards to
	to io.Writer
}

func (l *logWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

func (l *logWriter) divert(to io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = to
}

// runProgress shows how much research is done: bars on a terminal, plain lines elsewhere.
type runProgress struct {
	out     io.Writer
	bars    *bars
	last    string
	printed time.Time
}

func (a *app) newRunProgress() *runProgress { return &runProgress{out: a.err, bars: a.newBars()} }

// show shows the totals and the costs of research if there are pairs to research and the
// totals have changed; plain lines, without bars, come at most once in plainEvery. It
// calls costs only then, because that queries the coordinator.
func (p *runProgress) show(t catalog.Totals, costs func() string) {
	pairs := t.Episodes * t.Clips
	found := count(t.Findings, "finding") + ", " + count(t.Problems, "problem")
	line := fmt.Sprintf("%d of %d pairs researched (%s, %s), %s", t.Researched, pairs, count(t.Episodes, "episode"), count(t.Clips, "clip"), found)
	if pairs == 0 || line == p.last || p.bars == nil && time.Since(p.printed) < plainEvery {
		return
	}
	cost := costs()
	p.bars.show(int64(t.Researched), int64(pairs), fmt.Sprintf("%d of %d pairs, %s", t.Researched, pairs, found), cost)
	if p.bars == nil {
		if cost != "" {
			cost = "; " + cost
		}
		fmt.Fprintln(p.out, line+cost)
	}
	p.last, p.printed = line, time.Now()
}

func (p *runProgress) close() { p.bars.close() }

// fileProgress shows on a terminal how far the search of some files is.
type fileProgress struct {
	bars  *bars
	files int // how many files there are
	found int // findings so far

	file  int // index of the file that is searched
	name  string
	began time.Time
}

// begin opens the bars for a file, unless lines are printed to the terminal meanwhile.
func (a *app) begin(p *fileProgress, file int, path string, printsLines bool) {
	p.file, p.name, p.began = file, oneLine(filepath.Base(path)), time.Now()
	if !printsLines || !canRedraw(a.out) {
		p.bars = a.newBars()
	}
	p.show(0)
}

// show draws the position in the file.
func (p *fileProgress) show(position time.Duration) {
	if p.bars == nil {
		return
	}
	speed := position.Seconds() / max(time.Since(p.began).Seconds(), .001)
	p.bars.show(int64(p.file), int64(p.files),
		fmt.Sprintf("%d of %s, %s", p.file+1, count(p.files, "file"), count(p.found, "finding")),
		fmt.Sprintf("%s at %s, %.0f times as fast as it plays", p.name, models.SecondsOf(position).Clock(), speed))
}

// end closes the bars of a file.
func (p *fileProgress) end() {
	p.bars.close()
	p.bars = nil
}

// watch returns a source that shows how far s was read.
func (p *fileProgress) watch(s clips.Source) clips.Source { return &watchedSource{s, p, 0} }

type watchedSource struct {
	clips.Source
	progress *fileProgress
	samples  int
}

func (w *watchedSource) Read(dst []float32) (int, error) {
	n, err := w.Source.Read(dst)
	w.samples += n
	w.progress.show(time.Duration(w.samples) * (time.Second / clips.RateHz))
	return n, err
}
