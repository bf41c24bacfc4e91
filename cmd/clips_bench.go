package cmd

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"leasehold/shared/clips/bench"
	"leasehold/shared/clips/bench/set"
	"leasehold/shared/clips/match"
	"leasehold/shared/process/wording"
)

// benchOptions are the flags of `leasehold clips bench`.
type benchOptions struct {
	out      *output
	sets     []string
	methods  []string
	work     string
	clips    int
	episodes int
	runs     int
	oracle   int
	write    string
	seed     uint64
	free     int
	each     bool

	threshold, minCoverage float64
}

// methods are what can be measured.
var methods = map[string]func() bench.Method{
	"landmarks": func() bench.Method { return &bench.Landmarks{} },
	"exact":     func() bench.Method { return &bench.Exact{} },
	"cosine":    func() bench.Method { return &bench.Cosine{} },
}

var recipes = map[string]func(seed uint64) set.Recipe{"dev": set.Development, "report": set.Report}

// newClipsBench is `leasehold clips bench`.
func (a *app) newClipsBench() *cobra.Command {
	var o benchOptions
	c := &cobra.Command{
		Use:   "bench",
		Short: "measure how well clips are found, and at what cost",
		Long: `Build sets of episodes with known clips in them, from openly licensed Debian
packages, and measure how well each method finds them: precision, recall, offset
error, CPU.

A set is built once for each seed, below the folder of --work; that takes
minutes and needs apt-get, dpkg-deb, sox, lame and ffmpeg. The seed selects the
clips, the background and the parameters of each condition. Tune thresholds on
dev only; the seed of report changes with each release. The exact method, which
is the reference, and the older cosine search are too slow for a whole set:
--oracle 60 compares all methods on a part.`,
		Args: cobra.NoArgs,
	}
	o.out = bindOutput(c)
	f := c.Flags()
	f.StringSliceVar(&o.sets, "set", []string{"report"}, "sets to build and measure: dev, report or both")
	f.Uint64Var(&o.seed, "seed", set.ReleaseSeed, "seed of the set")
	f.IntVar(&o.free, "free-hours", 0, "also search this number of hours in which no clip is played")
	f.BoolVar(&o.each, "each", false, "log each miss and each wrong finding")
	f.StringSliceVar(&o.methods, "method", []string{"landmarks"}, "methods to measure: "+wording.Or(slices.Sorted(maps.Keys(methods))...))
	f.StringVar(&o.work, "work", "", "folder for packages and sets (default leasehold/bench in the user's cache folder)")
	f.IntVar(&o.clips, "clips", 0, "maximum number of clips, taken evenly; 0 is all")
	f.IntVar(&o.episodes, "episodes", 0, "maximum number of episodes; 0 is all")
	f.IntVar(&o.runs, "runs", 3, "number of runs; times are medians")
	f.IntVar(&o.oracle, "oracle", 0, "also compare with the exact method on this many clips and one episode, and with the cosine search on a tenth of them; 0 is none")
	f.Float64Var(&o.threshold, "threshold", match.DefaultThreshold, "minimum score of a finding of the landmarks method, above 0 and below 1")
	bindMinCoverage(c, &o.minCoverage)
	f.StringVar(&o.write, "write", "", "also write the tables into this Markdown file, between its marks")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return a.bench(c.Context(), o)
	}
	return c
}

// check returns a usage error if a flag has an invalid value, and sets the default of
// --work.
func (o *benchOptions) check() error {
	for _, name := range o.sets {
		if _, ok := recipes[name]; !ok {
			return usagef("--set must be dev or report; got %q", name)
		}
	}
	for _, name := range o.methods {
		if _, ok := methods[name]; !ok {
			return usagef("--method must be %s; got %q", wording.Or(slices.Sorted(maps.Keys(methods))...), name)
		}
	}
	if err := checkThreshold(o.threshold); err != nil {
		return err
	}
	if min(o.clips, o.episodes, o.oracle, o.free) < 0 || o.runs < 1 {
		return usagef("--clips, --episodes, --oracle and --free-hours must be at least 0, --runs at least 1; got %d, %d, %d, %d, %d", o.clips, o.episodes, o.oracle, o.free, o.runs)
	}
	if err := checkMinCoverage(o.minCoverage); err != nil || o.work != "" {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return usagef("there is no cache folder (%s): name a folder with --work", err)
	}
	o.work = filepath.Join(cache, "leasehold", "bench")
	return nil
}

// A measurement is of one method on a part of a set.
type measurement struct {
	method                string
	clips, episodes, runs int
}

// measurements returns those that are done on each set: each method of --method on the part of
// the set that --clips and --episodes select and, with --oracle, each of them and the two slow
// methods on a smaller part.
func (o benchOptions) measurements() []measurement {
	var all []measurement
	for _, m := range o.methods {
		all = append(all, measurement{method: m, clips: o.clips, episodes: o.episodes, runs: o.runs})
	}
	if o.oracle == 0 {
		return all
	}
	onPart := func(method string, clips int) measurement {
		return measurement{method: method, clips: clips, episodes: 1, runs: 1}
	}
	for _, m := range o.methods {
		all = append(all, onPart(m, o.oracle))
	}
	return append(all, onPart("exact", o.oracle), onPart("cosine", max(1, o.oracle/10)))
}

// method returns the function that makes the method of that name, a key of methods. Only
// landmarks has options.
func (o benchOptions) method(name string) func() bench.Method {
	if name == "landmarks" {
		return func() bench.Method {
			return &bench.Landmarks{Options: match.Options{Threshold: o.threshold, MinCoverage: o.minCoverage}}
		}
	}
	return methods[name]
}

// bench measures each method on each set, writes the tables into the file of --write, and prints a row for
// each group.
func (a *app) bench(ctx context.Context, o benchOptions) error {
	level := slog.LevelInfo
	if o.each {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level}))
	var all []bench.Figures
	for _, name := range o.sets {
		recipe := recipes[name](o.seed)
		recipe.FreeS = 3600 * float64(o.free)
		s, err := set.Build(ctx, recipe, o.work, log)
		if err != nil {
			return err
		}
		for _, m := range o.measurements() {
			f, err := bench.Run(ctx, s.Part(m.clips, m.episodes), m.method, o.method(m.method), m.runs, log)
			if err != nil {
				return err
			}
			all = append(all, f)
		}
	}
	if o.write != "" {
		if err := bench.Write(o.write, bench.Markdown(all)); err != nil {
			return err
		}
	}
	return show(a, o.out, benchRows(all), "nothing was measured")
}

// benchRow is a line of the benchmark as it is printed (docs/json.md): what was found of the insertions of one
// group, which are all, or those of one condition, length or kind (By). The costs are of the whole
// measurement.
type benchRow struct {
	Set       string  `json:"set"`
	Seed      uint64  `json:"seed"`
	Method    string  `json:"method"`
	By        string  `json:"by"`
	Group     string  `json:"group"`
	Played    int     `json:"played"`
	Hits      int     `json:"hits"`
	Wrong     int     `json:"wrong"`
	Aside     int     `json:"aside"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	RecallLow float64 `json:"recall_low"`
	RecallTop float64 `json:"recall_high"`
	F1        float64 `json:"f1"`
	ErrorMs   float64 `json:"error_median_ms"`
	Error95Ms float64 `json:"error_p95_ms"`
	Clips     int     `json:"clips"`
	Hours     float64 `json:"hours"`
	IndexS    float64 `json:"index_cpu_s"`
	MatchS    float64 `json:"match_cpu_s_per_hour"`
	DecodeS   float64 `json:"decode_cpu_s_per_hour"`
	HeapMB    float64 `json:"heap_mb"`
	FreeHours float64 `json:"free_hours"`
	FreeWrong int     `json:"free_wrong"`
}

// columns shows the costs in CPU seconds: to build the index once, and to search and to decode an
// hour of sound. A finding beside a clip that shares its sound is neither found nor wrong, but aside.
func (r benchRow) columns() []column {
	return []column{
		{head: "set", cell: r.Set}, {head: "method", cell: r.Method}, {head: "by", cell: r.By}, {head: "group", cell: r.Group},
		{head: "found", cell: fmt.Sprintf("%d/%d", r.Hits, r.Played)}, {head: "wrong", cell: fmt.Sprint(r.Wrong)}, {head: "aside", cell: fmt.Sprint(r.Aside)},
		{head: "precision", cell: fmt.Sprintf("%.3f", r.Precision)}, {head: "recall", cell: fmt.Sprintf("%.3f (%.2f–%.2f)", r.Recall, r.RecallLow, r.RecallTop)},
		{head: "F1", cell: fmt.Sprintf("%.3f", r.F1)},
		{head: "error ms", cell: fmt.Sprintf("%.2f / %.1f", r.ErrorMs, r.Error95Ms)},
		{head: "CPU s: index", cell: r.cost(r.IndexS)}, {head: "search/h", cell: r.cost(r.MatchS)}, {head: "decode/h", cell: r.cost(r.DecodeS)},
		{head: "heap MB", cell: r.cost(r.HeapMB)}, {head: "wrong without clips", cell: r.free()},
	}
}

// cost formats a cost, which only the row of all groups has.
func (r benchRow) cost(v float64) string {
	if r.Group != bench.All {
		return ""
	}
	return fmt.Sprintf("%.1f", v)
}

// free is what was found where no clip is played, told once for each measurement.
func (r benchRow) free() string {
	if r.Group != bench.All || r.FreeHours == 0 {
		return ""
	}
	return fmt.Sprintf("%d in %.0f h", r.FreeWrong, r.FreeHours)
}

// benchRows returns a row for each group of each measurement.
func benchRows(all []bench.Figures) []benchRow {
	var rows []benchRow
	for _, f := range all {
		for _, g := range f.Groups {
			low, high := g.RecallRange()
			rows = append(rows, benchRow{
				Set: f.Set, Seed: f.Seed, FreeHours: f.FreeHours, FreeWrong: f.FreeWrong, RecallLow: low, RecallTop: high, Method: f.Method, By: g.By, Group: g.Name, Played: g.Played, Hits: g.Hits, Wrong: g.Wrong, Aside: g.Aside,
				Precision: g.Precision(), Recall: g.Recall(), F1: g.F1(), ErrorMs: g.ErrorMs(.5), Error95Ms: g.ErrorMs(.95),
				Clips: f.Clips, Hours: f.Hours, IndexS: f.Index.Median, MatchS: f.Match.Median, DecodeS: f.DecodeS, HeapMB: f.HeapMB,
			})
		}
	}
	return rows
}
