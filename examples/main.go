package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	"leasehold/examples/bots"
	"leasehold/examples/buffer"
	"leasehold/examples/course"
	"leasehold/examples/election"
	"leasehold/examples/fridge"
	"leasehold/examples/hello"
	"leasehold/examples/lock"
	"leasehold/examples/ring"
	"leasehold/examples/rpc"
	"leasehold/examples/wordcount"
	"leasehold/shared/space/trace"
)

// programs are the programs of the course, by the names of their folders.
var programs = map[string]course.Program{
	"hello": hello.Program, "fridge": fridge.Program, "buffer": buffer.Program, "rpc": rpc.Program, "ring": ring.Program,
	"wordcount": wordcount.Program, "election": election.Program, "lock": lock.Program, "bots": bots.Program,
}

// main exits with the code of run, after the handler of interrupts was removed, because os.Exit
// runs no deferred calls.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(code)
}

// run runs a program and returns the exit code: 2 for wrong arguments, 1 if the program fails.
// The first argument is its name.
func run(ctx context.Context, args []string, out io.Writer) int {
	flags := flag.NewFlagSet("examples", flag.ContinueOnError)
	flags.SetOutput(out)
	path := flags.String("trace", "", "log each operation on the spaces to this file")
	name := ""
	if len(args) > 0 {
		name = args[0]
		args = args[1:]
	}
	program, ok := programs[name]
	if !ok || flags.Parse(args) != nil || flags.NArg() > 0 {
		fmt.Fprintf(out, "examples: want one of %s, and optionally -trace FILE\n", strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
		return 2
	}
	if err := runTraced(ctx, program, *path, out); err != nil {
		fmt.Fprintf(out, "examples %s: %v\n", name, err)
		return 1
	}
	return 0
}

// runTraced runs a program, and logs its operations to the file at path unless path is empty. Errors of the log
// count too.
func runTraced(ctx context.Context, p course.Program, path string, out io.Writer) error {
	c := course.Config{Out: out}
	if path == "" {
		return p.Run(ctx, c)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	log := trace.NewWriter(f)
	c.Trace = log.Write
	return errors.Join(p.Run(ctx, c), log.Err(), f.Close())
}
