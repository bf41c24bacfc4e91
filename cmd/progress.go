package cmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/clips"
	"leasehold/shared/process/wording"
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

// close removes both lines from the terminal and waits for it.
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

// timeLeft tells how long the rest of some work takes, if it goes on as before: done of all in elapsed.
func timeLeft(elapsed time.Duration, done, all float64) string {
	if done >= all {
		return "nearly done"
	}
	if done <= 0 {
		return "time left not known yet"
	}
	left := time.Duration(float64(elapsed) * (all - done) / done)
	if left > 10*time.Minute {
		return "about " + strings.TrimSuffix(left.Round(time.Minute).String(), "0s") + " left"
	}
	return "about " + max(time.Second, left.Round(time.Second)).String() + " left"
}

// runProgress shows how many pairs have been searched: bars on a terminal, plain lines elsewhere.
type runProgress struct {
	out     io.Writer
	bars    *bars
	last    string // the last line
	cost    string // when last was shown
	printed time.Time

	began time.Time // when pairs were seen first
	first int       // how many of them an earlier run had searched then
}

// newRunProgress opens the bars, whose text tells from the start what happens.
func (a *app) newRunProgress() *runProgress {
	p := &runProgress{out: a.err, bars: a.newBars()}
	p.bars.show(0, 1, "visiting origins", "time left not known yet")
	return p
}

// show shows the totals, the time left and the costs, if there are pairs to search. Plain lines, without
// bars, are printed only if the totals have changed, and at most once in plainEvery. costs queries the
// coordinator, so it is called only if the totals have changed.
func (p *runProgress) show(t catalog.Totals, costs func() string) {
	pairs := t.Episodes * t.Clips
	if pairs == 0 {
		return
	}
	if p.began.IsZero() {
		p.began, p.first = time.Now(), t.Researched
	}
	found := count(t.Findings, "finding") + ", " + count(t.Problems, "problem")
	line := fmt.Sprintf("%d of %d pairs researched (%s, %s), %s", t.Researched, pairs, count(t.Episodes, "episode"), count(t.Clips, "clip"), found)
	if p.bars == nil && (line == p.last || time.Since(p.printed) < plainEvery) {
		return
	}
	if line != p.last {
		p.cost = costs()
	}
	below := timeLeft(time.Since(p.began), float64(t.Researched-p.first), float64(pairs-p.first))
	if p.cost != "" {
		below += "; " + p.cost
	}
	p.bars.show(int64(t.Researched), int64(pairs), fmt.Sprintf("%d of %d pairs, %s", t.Researched, pairs, found), below)
	if p.bars == nil {
		fmt.Fprintln(p.out, line+"; "+below)
	}
	p.last, p.printed = line, time.Now()
}

func (p *runProgress) close() { p.bars.close() }

// fileProgress shows on a terminal how far the search of some files is.
type fileProgress struct {
	bars  *bars
	files int // how many files there are
	found int // findings so far

	file  int // index of the current file
	name  string
	first time.Time // when the first file began
	began time.Time // when this file began
}

// barsFor opens bars, unless lines are printed to the terminal meanwhile.
func (a *app) barsFor(printsLines bool) *bars {
	if printsLines && canRedraw(a.out) {
		return nil
	}
	return a.newBars()
}

// begin opens the bars for a file.
func (a *app) begin(p *fileProgress, file int, path string, printsLines bool) {
	p.file, p.name, p.began = file, wording.OneLine(filepath.Base(path)), time.Now()
	if p.first.IsZero() {
		p.first = p.began
	}
	p.bars = a.barsFor(printsLines)
	p.show(0, 0)
}

// show draws the position in the file, and which share of it was read; 0 if unknown.
func (p *fileProgress) show(position time.Duration, share float64) {
	if p.bars == nil {
		return
	}
	const parts = 1000 // of a file
	done := float64(p.file) + share
	speed := position.Seconds() / max(time.Since(p.began).Seconds(), .001)
	p.bars.show(int64(done*parts), int64(p.files)*parts,
		fmt.Sprintf("file %d of %d, %s", p.file+1, p.files, count(p.found, "finding")),
		fmt.Sprintf("%s; %s at %s, %.0f times as fast as it plays", timeLeft(time.Since(p.first), done, float64(p.files)), p.name, models.SecondsOf(position).Clock(), speed))
}

// end closes the bars of a file.
func (p *fileProgress) end() {
	p.bars.close()
	p.bars = nil
}

// watch returns a source that shows how far s was read.
func (p *fileProgress) watch(s *clips.Stream) clips.Source { return &watchedSource{s, p, 0} }

type watchedSource struct {
	*clips.Stream
	progress *fileProgress
	samples  int
}

func (w *watchedSource) Read(dst []float32) (int, error) {
	n, err := w.Stream.Read(dst)
	w.samples += n
	w.progress.show(time.Duration(w.samples)*(time.Second/clips.RateHz), w.Share())
	return n, err
}
