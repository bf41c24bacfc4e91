package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/shared/fault"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// newTup4fun is `leasehold tup4fun`. None of it needs a coordinator.
func (a *app) newTup4fun() *cobra.Command {
	c := &cobra.Command{
		Use:   "tup4fun",
		Short: "model tuple-space programs and check all their states",
		Long: `Model tuple-space programs and check all their states. A model is a file with
the start, the processes and the properties, separated by lines of ---. The file
name - is standard input. docs/tup4fun.md is a tutorial.`,
	}
	c.AddCommand(a.newTupCheck(), a.newTupFmt(), a.newTupRun(), a.newTupGraph(), a.newTupTrace(), a.newTupExport(), a.newTupPetri(), a.newTupConform(), a.newTupServe())
	return c
}

// errIncomplete is the error of a command that printed that it has no verdict.
var errIncomplete = fmt.Errorf("%w: %w", errReported, fault.ErrUsage)

// modelFlags are the flags of commands that read a model.
type modelFlags struct {
	init     string
	capacity int
}

// bindModel adds the flags of a command that reads models.
func bindModel(c *cobra.Command) *modelFlags {
	var f modelFlags
	c.Flags().StringVar(&f.init, "init", "", "file with the start, if MODEL has only the program (as in the original tool's two boxes)")
	c.Flags().IntVar(&f.capacity, "capacity", 0, "capacity of spaces with INF; 0 is unlimited")
	return &f
}

// read returns a model's source: the file at path, and the start in --init. Errors are usage errors,
// also a file that has a start although --init is set.
func (f *modelFlags) read(path string) (syntax.Boxes, error) {
	program, err := readSource(path)
	boxes := syntax.Boxes{File: path, Program: program, InitFile: f.init}
	if err != nil || f.init == "" {
		return boxes, err
	}
	if syntax.HasStart(program) {
		return boxes, usagef("%s has its own start; remove --init %s", path, f.init)
	}
	boxes.Init, err = readSource(f.init)
	return boxes, err
}

// repeat returns a line with the command that takes the run of a trace again.
func (f *modelFlags) repeat(path string, t *explore.Trace) string {
	words := []string{"      repeat it: leasehold tup4fun run", path}
	if f.init != "" {
		words = append(words, "--init", f.init)
	}
	if f.capacity > 0 {
		words = append(words, "--capacity", strconv.Itoa(f.capacity))
	}
	if len(t.Choices) > 0 {
		words = append(words, "--choose", strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Choices), "[]"), " ", ","))
	}
	return strings.Join(append(words, "--steps", strconv.Itoa(len(t.Choices))), " ")
}

// load reads and compiles a model. An error in the model is a usage error.
func (f *modelFlags) load(path string) (*explore.Model, error) {
	if f.capacity < 0 {
		return nil, usagef("--capacity must not be negative")
	}
	src, err := f.read(path)
	if err != nil {
		return nil, err
	}
	p, err := src.Parse()
	if err != nil {
		return nil, usageError(err.Error())
	}
	m, err := explore.Compile(p, f.capacity)
	if err != nil {
		return nil, usageError(err.Error())
	}
	return m, nil
}

// readSource reads a file, or standard input if path is -. It reads up to one byte more
// than the language allows, so that the parser refuses more. Errors are usage errors.
func readSource(path string) (string, error) {
	r := io.Reader(os.Stdin)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", usageError(err.Error())
		}
		defer file.Close() // only read
		r = file
	}
	text, err := io.ReadAll(io.LimitReader(r, syntax.MaxSource+1))
	if err != nil {
		return "", usageError(err.Error())
	}
	return string(text), nil
}

// searchFlags bound a search.
type searchFlags struct {
	o                     explore.Options
	none                  bool
	noDead, noSym, noPart bool
	memory                int64
}

// bindSearch adds the flags that bound a search. options returns them.
func bindSearch(c *cobra.Command) *searchFlags {
	f := &searchFlags{}
	flags := c.Flags()
	flags.BoolVar(&f.none, "no-reduction", false, "explore all states; the same as the next three flags")
	flags.BoolVar(&f.noDead, "no-dead-variables", false, "tell states apart by variables that are not read again")
	flags.BoolVar(&f.noSym, "no-symmetry", false, "tell states apart by which copy of a process is where")
	flags.BoolVar(&f.noPart, "no-partial-order", false, "try all orders of independent steps")
	flags.BoolVar(&f.o.Compact, "compact", false, "store a 64-bit hash of each state, not the state itself")
	flags.IntVar(&f.o.Cores, "cores", 0, "number of cores; 0 is all")
	flags.Int64Var(&f.o.States, "states", 0, "maximum number of states; 0 is 20 million")
	flags.Int64Var(&f.memory, "memory", 0, "maximum memory in MiB; 0 is 4096")
	flags.DurationVar(&f.o.Time, "time", 0, "maximum time; 0 is unlimited")
	return f
}

// options returns the bounds and reductions that the flags select, or a usage error.
func (f *searchFlags) options() (explore.Options, error) {
	if f.o.Cores < 0 || f.o.States < 0 || f.memory < 0 || f.memory > 1<<40 || f.o.Time < 0 {
		return f.o, usagef("--cores, --states, --memory and --time must not be negative")
	}
	o := f.o
	o.Memory = f.memory << 20
	o.Reduction = explore.Reduction{Dead: !f.none && !f.noDead, Symmetry: !f.none && !f.noSym, Order: !f.none && !f.noPart}
	return o, nil
}

// printMachineReadable prints found as JSON, or rows as CSV, if o selects that; done is true then, and
// err is one of writing. done is false if o selects a table, which the caller prints; err is then
// nil.
func printMachineReadable[R row](a *app, o *output, found any, rows []R) (done bool, err error) {
	switch o.form {
	case asJSON:
		return true, a.printIndented(found)
	case asLines:
		return true, a.printJSON(found)
	case asCSV:
		return true, printCSV(a, rows)
	}
	return false, nil
}

// verdict returns the error of a command that has printed this outcome; nil if all properties
// hold.
func verdict(o explore.Outcome) error {
	switch o {
	case explore.Violated:
		return errReported
	case explore.Incomplete:
		return errIncomplete
	}
	return nil
}

// worse returns the worse of two verdicts: violated before incomplete before nil.
func worse(a, b error) error {
	if a == nil || errors.Is(a, errIncomplete) && b != nil {
		return b
	}
	return a
}
