package cmd

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"leasehold/shared/fault"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// newTup4fun is `leasehold tup4fun`. None of it needs a coordinator.
func (a *app) newTup4fun() *cobra.Command {
	c := &cobra.Command{
		Use:   "tup4fun",
		Short: "model tuple-space programs, and check all that they can do",
		Long: `Model tuple-space programs, and check all that they can do. A model is a file with the
start, the processes and the properties, and --- between them; docs/tup4fun.md is the
tutorial. Standard input is "-".`,
	}
	c.AddCommand(a.newTupCheck(), a.newTupFmt(), a.newTupRun(), a.newTupGraph(), a.newTupTrace(), a.newTupExport(), a.newTupPetri(), a.newTupConform(), a.newTupServe())
	return c
}

// errIncomplete is the end of a command that did not come to a verdict; it has
// said so.
var errIncomplete = fmt.Errorf("%w: %w", errSaid, fault.ErrUsage)

// modelFlags are how a model is read.
type modelFlags struct {
	init     string
	capacity int
}

func bindModel(c *cobra.Command) *modelFlags {
	var f modelFlags
	c.Flags().StringVar(&f.init, "init", "", "file with the initialisation, where MODEL is only the program (the two boxes of the original tool)")
	c.Flags().IntVar(&f.capacity, "capacity", 0, "room of the spaces that have INF; 0 is no bound")
	return &f
}

// read reads a model's source.
func (f *modelFlags) read(path string) (string, error) {
	program, err := readSource(path)
	if err != nil || f.init == "" {
		return program, err
	}
	if syntax.HasStart(program) {
		return "", usagef("%s has a start of its own: leave --init %s away", path, f.init)
	}
	start, err := readSource(f.init)
	return syntax.Join(start, program), err
}

// load reads and compiles a model. What is wrong with it is a usage error.
func (f *modelFlags) load(path string) (*explore.Model, error) {
	if f.capacity < 0 {
		return nil, usagef("--capacity must not be negative")
	}
	src, err := f.read(path)
	if err != nil {
		return nil, err
	}
	p, err := syntax.Parse(path, src)
	if err != nil {
		return nil, usageError(err.Error())
	}
	m, err := explore.Compile(p, f.capacity)
	if err != nil {
		return nil, usageError(err.Error())
	}
	return m, nil
}

// readSource reads a file, or standard input, as far as the language allows.
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

func bindSearch(c *cobra.Command) *searchFlags {
	f := &searchFlags{}
	flags := c.Flags()
	flags.BoolVar(&f.none, "no-reduction", false, "explore each state: short for the three below")
	flags.BoolVar(&f.noDead, "no-dead-variables", false, "tell states apart by variables that nobody reads any more")
	flags.BoolVar(&f.noSym, "no-symmetry", false, "tell states apart by which copy of a process is where")
	flags.BoolVar(&f.noPart, "no-partial-order", false, "try all orders of steps that concern nobody else")
	flags.BoolVar(&f.o.Compact, "compact", false, "store a 64-bit hash for each state, not the state")
	flags.IntVar(&f.o.Cores, "cores", 0, "how many cores to use; 0 is all")
	flags.Int64Var(&f.o.States, "states", 0, "give up after so many states; 0 is 20 million")
	flags.Int64Var(&f.memory, "memory", 0, "give up after so many MiB; 0 is 4096")
	flags.DurationVar(&f.o.Time, "time", 0, "give up after so long; 0 is never")
	return f
}

func (f *searchFlags) options() (explore.Options, error) {
	if f.o.Cores < 0 || f.o.States < 0 || f.memory < 0 || f.memory > 1<<40 || f.o.Time < 0 {
		return f.o, usagef("--cores, --states, --memory and --time must not be negative")
	}
	o := f.o
	o.Memory = f.memory << 20
	o.Reduction = explore.Reduction{Dead: !f.none && !f.noDead, Symmetry: !f.none && !f.noSym, Order: !f.none && !f.noPart}
	return o, nil
}

// machineReadable prints what was found as JSON, or rows of it as CSV, if o asks for
// that; done is false if it is for people.
func machineReadable[R row](a *app, o *output, found any, rows []R) (done bool, err error) {
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

// verdict is the end of a command that has said what it found.
func verdict(o explore.Outcome) error {
	switch o {
	case explore.Violated:
		return errSaid
	case explore.Incomplete:
		return errIncomplete
	}
	return nil
}

// worse joins two verdicts: violated counts before incomplete.
func worse(a, b error) error {
	if a == nil || errors.Is(a, errIncomplete) && b != nil {
		return b
	}
	return a
}
