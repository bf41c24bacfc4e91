package cmd

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"

	"leasehold/models"
	"leasehold/shared/audio"
)

// fileBar shows on a terminal how far a search of some files is; elsewhere nothing.
type fileBar struct {
	out      io.Writer
	terminal bool
	files    int
	found    int

	file  int // that is searched, from 0
	name  string
	began time.Time
	shown time.Time
}

func (a *app) newFileBar(files int) *fileBar {
	f, ok := a.err.(*os.File)
	return &fileBar{out: a.err, terminal: ok && term.IsTerminal(int(f.Fd())), files: files}
}

func (b *fileBar) begin(file int, path string) {
	b.file, b.name, b.began = file, filepath.Base(path), time.Now()
	b.show(0)
}

// show draws the bar, ten times a second at most.
func (b *fileBar) show(position time.Duration) {
	if !b.terminal || position > 0 && time.Since(b.shown) < 100*time.Millisecond {
		return
	}
	b.shown = time.Now()
	times := position.Seconds() / max(time.Since(b.began).Seconds(), .001)
	fmt.Fprintf(b.out, "\r\x1b[K%s %d of %s, %s at %s (%.0f times as fast as it plays), %s", bar(b.file, b.files),
		b.file+1, count(b.files, "file"), oneLine(b.name), models.SecondsOf(position).Clock(), times, count(b.found, "finding"))
}

func (b *fileBar) end() { b.clear() }

// clear makes room for a line of output.
func (b *fileBar) clear() {
	if b.terminal {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}

// watch shows how far a source was read.
func (b *fileBar) watch(s audio.Source) audio.Source { return &watched{s, b, 0} }

type watched struct {
	audio.Source
	bar     *fileBar
	samples int
}

func (w *watched) Read(dst []float32) (int, error) {
	n, err := w.Source.Read(dst)
	w.samples += n
	w.bar.show(time.Duration(w.samples) * (time.Second / audio.RateHz))
	return n, err
}
