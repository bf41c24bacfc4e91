package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/shared/clips"
	"leasehold/shared/clips/exact"
	"leasehold/shared/clips/match"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/process/wording"
)

// matchOptions are the flags of `leasehold clips match`.
type matchOptions struct {
	out         *output
	clips       string
	format      string
	threshold   float64
	minCoverage float64
	exact       bool
}

// bindMinCoverage adds the flag --min-coverage. The command checks it with checkMinCoverage.
func bindMinCoverage(c *cobra.Command, v *float64) {
	c.Flags().Float64Var(v, "min-coverage", match.DefaultMinCoverage, "share of a clip that must be found, above 0 and at most 1; below 0.6, only parts of at least a second count")
}

// checkThreshold returns a usage error if v is out of range; NaN is.
func checkThreshold(v float64) error {
	if !(v > 0 && v < 1) {
		return usagef("--threshold must be above 0 and below 1; got %v", v)
	}
	return nil
}

// checkMinCoverage returns a usage error if v is out of range; NaN is.
func checkMinCoverage(v float64) error {
	if !(v > 0 && v <= 1) {
		return usagef("--min-coverage must be above 0 and at most 1; got %v", v)
	}
	return nil
}

// newClipsMatch is `leasehold clips match`.
func (a *app) newClipsMatch() *cobra.Command {
	var o matchOptions
	c := &cobra.Command{
		Use:   "match --clips FOLDER FILE…",
		Short: "find the clips of a folder in recordings, without a coordinator",
		Long: `Find where the clips of a folder are played in recordings. It needs no
coordinator and no data folder. A file or clip that cannot be read is reported
and skipped; the exit code is then 1. A recording that breaks off is searched up
to that point. FILE may be an http or https URL, and - is standard input. In a
live stream, findings are printed about a minute after they are played (with
--json or --format labels).`,
		Example: "  leasehold clips match --clips FOLDER --json http://radio.example/live\n  arecord -f cd | leasehold clips match --clips FOLDER --format labels -",
		Args:    cobra.MinimumNArgs(1),
	}
	o.out = bindOutput(c)
	f := c.Flags()
	f.StringVar(&o.clips, "clips", "", "folder of the clips")
	f.StringVar(&o.format, "format", formatTable, "table, or labels for Audacity")
	f.Float64Var(&o.threshold, "threshold", match.DefaultThreshold, "score from which a clip counts as found, above 0 and below 1")
	bindMinCoverage(c, &o.minCoverage)
	f.BoolVar(&o.exact, "exact", false, "correlate each clip with every sample: slow, and misses clips at another speed")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{formatTable, formatLabels}, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	c.RunE = func(c *cobra.Command, files []string) error {
		once := slices.ContainsFunc(files, func(path string) bool { return path == stdin || isURL(path) })
		if o.exact && once {
			return usagef("--exact reads a recording several times and cannot be combined with standard input or a URL")
		}
		if err := o.check(); err != nil {
			return err
		}
		return a.match(c.Context(), o, files)
	}
	return c
}

// check returns a usage error for the first flag that is missing or invalid, or cannot be combined with
// another.
func (o matchOptions) check() error {
	switch {
	case o.clips == "":
		return usagef("--clips is missing: it names the folder of the clips")
	case o.format != formatTable && o.format != formatLabels:
		return usagef("--format must be %s or %s; got %q", formatTable, formatLabels, o.format)
	case o.format == formatLabels && o.out.flag != "":
		return usagef("--format labels cannot be combined with %s", o.out.flag)
	}
	if err := checkThreshold(o.threshold); err != nil {
		return err
	}
	return checkMinCoverage(o.minCoverage)
}

// matchRow is a finding as it is printed (docs/json.md).
type matchRow struct {
	File     string         `json:"file"` // as it was given
	Clip     string         `json:"clip"`
	Offset   models.Seconds `json:"offset_s"`
	Duration models.Seconds `json:"duration_s"`
	PartFrom models.Seconds `json:"part_from_s"`
	PartTo   models.Seconds `json:"part_to_s"`
	Coverage float64        `json:"coverage"`
	Score    float64        `json:"score"`
	Speed    float64        `json:"speed"`
	Within   string         `json:"within,omitempty"`
}

func (r matchRow) columns() []column {
	return []column{
		{head: "file", cell: r.File, fit: cutStart}, {head: "clip", cell: r.Clip, fit: cut}, {head: "time", cell: r.Offset.Clock()},
		{head: "length", cell: fmt.Sprintf("%.2f", float64(r.Duration))},
		{head: "part", cell: fmt.Sprintf("%.2f–%.2f", float64(r.PartFrom), float64(r.PartTo))}, {head: "coverage", cell: fmt.Sprintf("%.2f", r.Coverage)},
		{head: "score", cell: fmt.Sprintf("%.3f", r.Score)}, {head: "speed", cell: fmt.Sprintf("%.3f", r.Speed)},
		{head: "within", cell: r.Within, rare: true, fit: cut},
	}
}

// finder is one run of the command.
type finder struct {
	*app
	o        matchOptions
	clips    *clips.Index
	exact    []exact.Clip
	progress fileProgress
	rows     []matchRow
}

// match searches the files one after the other. It prints the error of a file and goes on; errReported then
// stands for all of them. Other errors end it at once.
func (a *app) match(ctx context.Context, o matchOptions, files []string) error {
	f := &finder{app: a, o: o, clips: clips.NewIndex(), progress: fileProgress{files: len(files)}}
	if err := f.load(ctx); err != nil {
		return err
	}
	failed := 0
	for i, path := range files {
		a.begin(&f.progress, i, path, f.printsLines())
		err := f.search(ctx, path)
		f.progress.end()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failed++
			sayf(a.err, "%s: %v\n", path, err)
		}
	}
	if err := f.print(); err != nil {
		return err
	}
	if failed > 0 {
		return errors.Join(errReported, fault.ErrInvalid)
	}
	return nil
}

// load reads the clips into the index or, with --exact, into the list of the exact search. It adds at least
// one.
func (f *finder) load(ctx context.Context) error {
	f.log.divert(f.err)
	b := f.barsFor(f.printsLines())
	defer b.close()
	began := time.Now()
	read := func(done, all int) {
		b.show(int64(done), int64(all), fmt.Sprintf("reading clips, %d of %d", done, all), timeLeft(time.Since(began), float64(done), float64(all)))
	}
	return f.eachClip(ctx, f.o.clips, read, func(c clips.Clip) error {
		if !f.o.exact {
			return f.clips.Add(c)
		}
		f.exact = append(f.exact, exact.Clip{ID: c.ID, Load: func(context.Context) ([]float32, error) { return c.Samples, nil }})
		return nil
	})
}

// search adds the findings of one file, as they are found. Those before an error stay, because a
// recording that breaks off is searched up to there.
func (f *finder) search(ctx context.Context, path string) error {
	if f.o.exact {
		return f.searchExactly(ctx, path)
	}
	s, err := openEpisode(ctx, path)
	if err != nil {
		return err
	}
	if note := s.Note(); note != "" {
		fmt.Fprintf(f.err, "%s: %s\n", path, note)
	}
	for found, matchErr := range f.clips.Match(ctx, f.progress.watch(s), clips.Options{Threshold: f.o.threshold, MinCoverage: f.o.minCoverage}) {
		if err = matchErr; err != nil {
			break
		}
		from, to := found.Part()
		if err = f.add(matchRow{
			File: path, Clip: found.ID, PartFrom: models.SecondsOf(from), PartTo: models.SecondsOf(to), Offset: models.SecondsOf(found.Start()), Duration: models.SecondsOf(found.Duration()),
			Coverage: found.Coverage, Score: found.Score, Speed: found.Speed, Within: found.Within,
		}); err != nil {
			break
		}
	}
	return errors.Join(err, s.Close())
}

// stdin is the argument that names standard input.
const stdin = "-"

// openEpisode opens a file, standard input, a pipe that has a name, or a URL. All but a file can be read only
// once, and so they are decoded while they are read. The caller closes the stream, which closes what it reads
// from.
func openEpisode(ctx context.Context, path string) (*clips.Stream, error) {
	if path == stdin {
		return clips.OpenReader(ctx, os.Stdin)
	}
	if isURL(path) {
		live, err := fetch.Stream(ctx, path)
		if err != nil {
			return nil, err
		}
		return clips.OpenReader(ctx, live)
	}
	if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		f, err := openPipe(ctx, path)
		if err != nil {
			return nil, err
		}
		return clips.OpenReader(ctx, f)
	}
	return clips.Open(ctx, path)
}

// openPipe opens a pipe that has a name. That waits for a program that writes, or until ctx ends; the error is
// then its cause.
func openPipe(ctx context.Context, path string) (*os.File, error) {
	var f *os.File
	var openErr error
	var opening sync.WaitGroup
	opened := make(chan struct{})
	opening.Go(func() {
		defer close(opened)
		f, openErr = os.Open(path)
	})
	select {
	case <-opened:
		opening.Wait()
		return f, openErr
	case <-ctx.Done():
	}
	// The system does not interrupt an open that waits, but a writer ends it. The writer stays open
	// until then, because the other side may not have begun to wait.
	w, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil { // it was removed, or may only be read: the open goes on until the process ends
		return nil, context.Cause(ctx)
	}
	opening.Wait()
	if openErr == nil {
		_ = f.Close() // nothing was read
	}
	_ = w.Close() // nothing was written
	return nil, context.Cause(ctx)
}

func isURL(path string) bool {
	return strings.HasPrefix(path, "http://") || strings.HasPrefix(path, "https://")
}

// searchExactly adds the findings of one file by plain correlation, in the order of time. A clip longer than
// the file counts as not found.
func (f *finder) searchExactly(ctx context.Context, path string) error {
	r, err := clips.Spool(ctx, path, "")
	if err != nil {
		return err
	}
	done := 0
	var rows []matchRow
	err = exact.Find(ctx, r, f.exact, exact.Options{Threshold: f.o.threshold}, func(result exact.Result) error {
		done++
		share := float64(done) / float64(len(f.exact))
		f.progress.show(time.Duration(float64(r.Duration())*share), share)
		for _, m := range result.Matches {
			rows = append(rows, matchRow{
				File: path, Clip: result.ID, Offset: models.SecondsOf(m.Start()), Duration: models.SecondsOf(m.Duration()),
				PartTo: models.SecondsOf(m.Duration()), Coverage: m.Coverage, Score: m.Score, Speed: 1,
			})
		}
		if errors.Is(result.Err, exact.ErrLongerThanEpisode) {
			return nil
		}
		return result.Err
	})
	slices.SortStableFunc(rows, func(a, b matchRow) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, row := range rows {
		err = errors.Join(err, f.add(row))
	}
	return errors.Join(err, r.Close())
}

// printsLines reports whether each finding is printed when it is found, on a line.
func (f *finder) printsLines() bool {
	return f.o.format == formatLabels || f.o.out.form == asLines
}

// add prints a finding if the format has a line for each; otherwise it keeps it.
func (f *finder) add(r matchRow) error {
	f.progress.found++
	switch {
	case f.o.format == formatLabels:
		_, err := fmt.Fprintf(f.out, "%.6f\t%.6f\t%s\n", float64(r.Offset), float64(r.Offset+r.Duration), wording.OneLine(f.label(r)))
		return err
	case f.o.out.form == asLines:
		return f.printJSON(r)
	}
	f.rows = append(f.rows, r)
	return nil
}

// label returns the text of a finding for an editor: the clip, and the file before it if several
// are searched.
func (f *finder) label(r matchRow) string {
	if f.progress.files > 1 {
		return r.File + ": " + r.Clip
	}
	return r.Clip
}

// print prints the findings that add kept, because a table, a document and CSV are printed at the end.
func (f *finder) print() error {
	if f.printsLines() {
		return nil
	}
	return show(f.app, f.o.out, f.rows, "no findings")
}
