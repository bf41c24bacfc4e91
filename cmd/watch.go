package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// watchable adds --watch to a command that prints a list. With it the command runs at intervals until its context
// ends, and then succeeds. On a terminal each table takes the place of the one before; elsewhere, and in the formats for
// programs, they follow each other.
func (a *app) watchable(c *cobra.Command) *cobra.Command {
	var every time.Duration
	c.Flags().Var((*ageValue)(&every), "watch", "print again at this interval until Ctrl-C; --watch alone is --watch=2s")
	c.Flags().Lookup("watch").NoOptDefVal = "2s"
	once := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if every == 0 {
			return once(c, args)
		}
		form := c.Flags().Lookup("output").Value.String()
		w := watch{app: a, every: every, title: c.CommandPath(), table: form == asTable}
		return w.run(c.Context(), func() error { return once(c, args) })
	}
	return c
}

// watch prints a list at intervals.
type watch struct {
	*app
	every time.Duration
	title string
	table bool   // the list is for people
	last  string // the list that was printed last
}

// run calls print, which prints to the app, until ctx ends. It returns the first error of print; a later one that may
// pass is shown.
func (w *watch) run(ctx context.Context, print func() error) error {
	for first := true; ; first = false {
		text, err := w.capture(print)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (first || !errors.Is(err, fault.ErrUnavailable) && !errors.Is(err, fault.ErrOverloaded)):
			_, _ = io.WriteString(w.out, text) // the error of print tells more
			return err
		case err == nil:
			w.last = text
		}
		if err := w.show(first, err); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(w.every):
		}
	}
}

// capture returns what print prints, which is as wide as the terminal. What it reports on a terminal is a part of that,
// because it would not stay beside a table that is drawn again.
func (w *watch) capture(print func() error) (string, error) {
	f := &frame{to: w.out}
	out, errs := w.out, w.err
	defer func() { w.out, w.err = out, errs }()
	w.out = f
	if w.redraws(out) {
		w.err = f
	}
	err := print()
	return f.String(), err
}

func (w *watch) redraws(out io.Writer) bool { return w.table && canRedraw(out) }

// show shows the last list, or that it is old because of an error.
func (w *watch) show(first bool, problem error) error {
	now := time.Now()
	switch {
	case w.redraws(w.out):
		head := fmt.Sprintf("%s  every %s  %s", w.title, w.every, now.Format(time.TimeOnly))
		if problem != nil {
			head = "old, because " + strings.Join(plainError(problem), "; ")
		}
		width, height := terminalSize(w.out)
		_, err := io.WriteString(w.out, redrawn(head, w.last, width, height, first))
		return err
	case problem != nil:
		_, err := sayf(w.err, "leasehold: %s\n", strings.Join(plainError(problem), "; "))
		return err
	case !w.table && first:
	case !w.table:
		w.last = "\n" + w.last // readers of JSON skip it
	default:
		w.last = "--- " + now.UTC().Format(time.RFC3339) + "\n" + w.last
	}
	_, err := io.WriteString(w.out, w.last)
	return err
}

// redrawn returns what draws a text over the one before on a terminal of this size. The lines that do not fit are
// counted.
func redrawn(head, text string, width, height int, first bool) string {
	lines := strings.Split(strings.TrimRight(wording.Printable(head)+"\n"+text, "\n"), "\n")
	if most := height - 1; most > 1 && len(lines) > most { // the cursor stays in the last line
		left := len(lines) - most + 1
		lines = append(lines[:most-1], fmt.Sprintf("… and %s more", count(left, "line")))
	}
	var b strings.Builder
	if first {
		b.WriteString("\x1b[2J")
	}
	b.WriteString("\x1b[H")
	for _, line := range lines {
		if all := []rune(line); width > 0 && len(all) > width {
			line = string(all[:width-1]) + "…"
		}
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	return b.String()
}

// frame collects what is printed for a writer.
type frame struct {
	bytes.Buffer
	to io.Writer
}
