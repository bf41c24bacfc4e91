package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/shared/space/trace"
	"leasehold/tup4fun/conform"
)

// conformFlags are the flags of `leasehold tup4fun conform`.
type conformFlags struct {
	mapping string // file; "": the models of the system
	model   string // one of conform.Protocols; "": all
	follow  bool
	live    bool // for a coordinator that runs
	conform.Options
}

// newTupConform is `leasehold tup4fun conform`.
func (a *app) newTupConform() *cobra.Command {
	var f conformFlags
	c := &cobra.Command{
		Use:   "conform TRACE…",
		Short: "check that a coordinator did only what its models allow",
		Long: `Check that the traces of coordinators (run and coordinator write them with
--trace FILE) do only what the models of our protocols allow (docs/tup4fun.md),
and print a line for each model. --model NAME checks one model: lease, task,
capacity, status or visit. Earlier files of a trace (TRACE.NUMBER) are read
first. - is standard input. For a model of your own, MAP maps events to steps of
MODEL:

  leasehold tup4fun conform MODEL --map MAP TRACE

--follow reads on at the end of the trace, until Ctrl-C, and prints a deviation
when it occurs; then it goes on at the next restart of the coordinator. --live
is for programs, such as coordinator --conform: it begins at the last restart,
and prints lines of JSON: what was read each second, deviations, and which
models wait.

The exit code is 0 if all traces conform, 1 if one does not, and 2 if that is
unknown (a limit was reached, or no model knows something that the coordinator
did) or something cannot be read.`,
		Example: "  leasehold run --trace trace.jsonl PATH\n" +
			"  leasehold tup4fun conform trace.jsonl",
		Args: cobra.MinimumNArgs(1),
	}
	out := bindOutput(c)
	c.Flags().StringVar(&f.mapping, "map", "", "file that maps events to steps of the model in the first argument")
	c.Flags().StringVar(&f.model, "model", "", "check only this model: "+strings.Join(conform.Protocols(), ", "))
	c.Flags().BoolVar(&f.Complete, "complete", false, "the system has ended: no lease, task, result or visit may be left over")
	c.Flags().BoolVar(&f.follow, "follow", false, "read on at the end of the trace, until Ctrl-C, and print each deviation when it occurs")
	c.Flags().BoolVar(&f.live, "live", false, "follow a trace from its last restart on with bounded memory, and print lines of JSON for a program")
	c.Flags().IntVar(&f.States, "states", 0, "maximum number of states of a model; 0 is a million")
	for _, other := range []string{"follow", "model", "map", "complete", "states", "output", "json"} {
		c.MarkFlagsMutuallyExclusive("live", other)
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.live {
			if len(args) != 1 || args[0] == "-" {
				return usagef("--live wants one trace, in a file")
			}
			return a.checkLive(c.Context(), args[0])
		}
		if f.follow {
			f.Deviates = func(r *conform.Report) { _ = r.Line(a.err) }
		}
		check, traces, err := f.load(args)
		if err != nil {
			return err
		}
		if f.follow && (len(traces) != 1 || traces[0] == "-") {
			return usagef("--follow wants one trace, in a file")
		}
		var all []*conform.Report
		for _, path := range traces {
			reports, err := checkLog(c, check, path, f.follow)
			if err != nil {
				return err
			}
			all = append(all, reports...)
		}
		if err := a.showConformance(out, all, f.mapping != "" || f.model != ""); err != nil {
			return err
		}
		return conformance(all)
	}
	return c
}

// checkFunc checks a log, and returns a report for each model.
type checkFunc func(ctx context.Context, name string, log io.Reader) ([]*conform.Report, error)

// load returns the check that the flags select, and the traces among the arguments.
func (f *conformFlags) load(args []string) (check checkFunc, traces []string, err error) {
	var one *conform.Checker
	switch {
	case f.States < 0:
		return nil, nil, usagef("--states must not be negative")
	case f.mapping != "" && f.model != "":
		return nil, nil, usagef("--map and --model cannot be combined: --map is for a model of your own")
	case f.mapping != "" && len(args) != 2:
		return nil, nil, usagef("with --map, want two arguments: MODEL and TRACE")
	case f.mapping != "":
		one, err = loadChecker(args[0], f.mapping, f.Options)
		args = args[1:]
	case strings.HasSuffix(args[0], ".tup"):
		return nil, nil, usagef("--map is missing: the file that maps events to steps of the model %s", args[0])
	case f.model != "":
		if one, err = conform.LoadProtocol(f.model, f.Options); err != nil {
			err = usagef("--model: %s", err)
		}
	default:
		system, err := conform.LoadSystem(f.Options)
		if err != nil {
			return nil, nil, err
		}
		return system.Check, args, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, name string, log io.Reader) ([]*conform.Report, error) {
		return conform.CheckAll(ctx, name, log, one)
	}, args, nil
}

// loadChecker reads a model and a map. An error in them is a usage error.
func loadChecker(modelFile, mapFile string, o conform.Options) (*conform.Checker, error) {
	mapping, err := readSource(mapFile)
	if err != nil {
		return nil, err
	}
	model, err := readSource(modelFile)
	if err != nil {
		return nil, err
	}
	checker, err := conform.Load(modelFile, model, mapFile, mapping, o)
	if err != nil {
		return nil, usageError(err.Error())
	}
	return checker, nil
}

// checkLog checks the log in a file and the rotated files before it, or on standard input; with follow until the command
// is interrupted. A log that cannot be opened, or is empty, is a usage error.
func checkLog(c *cobra.Command, check checkFunc, path string, follow bool) ([]*conform.Report, error) {
	var log io.Reader = os.Stdin
	ctx := c.Context()
	if path != "-" {
		open := trace.OpenAll
		if follow {
			open = func(path string) (io.ReadCloser, error) { return trace.Follow(c.Context(), path) }
			ctx = context.WithoutCancel(ctx) // the end of the log ends the check
		}
		files, err := open(path)
		if err != nil {
			return nil, usageError(err.Error())
		}
		defer files.Close() // only read
		log = files
	}
	reports, err := check(ctx, path, log)
	if errors.Is(err, conform.ErrNoLog) {
		return nil, usageError(fmt.Sprintf("%s: %s", path, err))
	}
	return reports, err
}

// showConformance prints reports in the format of o: for people, one in full (full) or a line for each.
// Its error is one of writing: a trace that does not conform is an error of the command (conformance).
func (a *app) showConformance(o *output, all []*conform.Report, full bool) error {
	rows := make([]conformRow, len(all))
	for i, r := range all {
		rows[i] = conformRow{r.Trace, r.Model, string(r.Outcome), r.Reason, r.Events, r.Explained}
	}
	var details any = all
	if full && len(all) == 1 {
		details = all[0]
	}
	if done, err := printMachineReadable(a, o, details, rows); done {
		return err
	}
	for _, r := range all {
		show := r.Line
		if full {
			show = r.Text
		}
		if err := show(a.out); err != nil {
			return err
		}
	}
	return nil
}

// conformRow is a verdict as a row.
type conformRow struct {
	Trace     string `json:"trace"`
	Model     string `json:"model"`
	Outcome   string `json:"outcome"`
	Reason    string `json:"reason"`
	Events    int    `json:"events"`
	Explained int    `json:"explained"`
}

func (r conformRow) columns() []column {
	return []column{{head: "trace", cell: r.Trace, fit: cutStart}, {head: "model", cell: r.Model, fit: cutStart}, {head: "outcome", cell: r.Outcome}, {head: "reason", cell: r.Reason, fit: wrap}}
}

// conformance returns the error of a command that has printed these reports, which is that of the worst
// outcome; nil if all traces conform.
func conformance(all []*conform.Report) error {
	has := func(o conform.Outcome) bool {
		return slices.ContainsFunc(all, func(r *conform.Report) bool { return r.Outcome == o })
	}
	switch {
	case has(conform.Violates):
		return errReported
	case has(conform.Incomplete):
		return errIncomplete
	}
	return nil
}
