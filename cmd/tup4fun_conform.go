package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"leasehold/shared/space/trace"
	"leasehold/tup4fun/conform"
)

// newTupConform is `leasehold tup4fun conform`.
func (a *app) newTupConform() *cobra.Command {
	var file string
	var o conform.Options
	c := &cobra.Command{
		Use:   "conform MODEL --map MAP TRACE",
		Short: "check that a coordinator did only what a model allows",
		Long: `Check that the trace of a coordinator (run and coordinator write it with --trace
FILE) does only what a model allows. MAP maps events to steps of the model
(docs/tup4fun.md); tup4fun/conform/models has a model and a map for each of our
protocols. Earlier files of the trace (TRACE.NUMBER) are read first. - is
standard input. The exit code is 0 if the trace conforms, 1 if it does not, and
2 if that is unknown (a bound was reached) or something cannot be read.`,
		Example: "  leasehold run --trace trace.jsonl PATH\n" +
			"  leasehold tup4fun conform lease.tup --map lease.map trace.jsonl",
		Args: cobra.ExactArgs(2),
	}
	out := bindOutput(c)
	c.Flags().StringVar(&file, "map", "", "file that maps events to steps of the model")
	c.Flags().IntVar(&o.States, "states", 0, "maximum number of states of the model; 0 is a million")
	c.RunE = func(c *cobra.Command, args []string) error {
		if file == "" {
			return usagef("--map is missing: the file that maps events to steps of the model")
		}
		if o.States < 0 {
			return usagef("--states must not be negative")
		}
		checker, err := loadChecker(args[0], file, o)
		if err != nil {
			return err
		}
		r, err := checkLog(c, checker, args[1])
		if err != nil {
			return err
		}
		if err := a.showConformance(out, r); err != nil {
			return err
		}
		return conformance(r.Outcome)
	}
	return c
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

// checkLog checks the log in a file and the rotated files before it, or on standard input. A log
// that cannot be opened, or is empty, is a usage error.
func checkLog(c *cobra.Command, checker *conform.Checker, path string) (*conform.Report, error) {
	var log io.Reader = os.Stdin
	if path != "-" {
		files, err := trace.OpenAll(path)
		if err != nil {
			return nil, usageError(err.Error())
		}
		defer files.Close() // only read
		log = files
	}
	r, err := checker.Check(c.Context(), path, log)
	if errors.Is(err, conform.ErrNoLog) {
		return nil, usageError(fmt.Sprintf("%s: %s", path, err))
	}
	return r, err
}

// showConformance prints a report in the format of o. Its error is one of writing: a trace that
// does not conform is an error of the command (conformance).
func (a *app) showConformance(o *output, r *conform.Report) error {
	row := conformRow{r.Trace, r.Model, string(r.Outcome), r.Reason, r.Events, r.Explained}
	if done, err := printMachineReadable(a, o, r, []conformRow{row}); done {
		return err
	}
	return r.Text(a.out)
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

// conformance returns the error of a command that has printed this outcome; nil if the trace
// conforms.
func conformance(o conform.Outcome) error {
	switch o {
	case conform.Violates:
		return errReported
	case conform.Incomplete:
		return errIncomplete
	}
	return nil
}
