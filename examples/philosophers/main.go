package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"leasehold/shared/trace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(code)
}

// run is the program; it returns its exit code.
func run(ctx context.Context, args []string, out io.Writer) int {
	d := dinner{seats: 5, pause: time.Millisecond, patience: 2 * time.Second}
	flags := flag.NewFlagSet("philosophers", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&d.rounds, "rounds", 100, "how often each of the five eats")
	flags.BoolVar(&d.tickets, "tickets", false, "only who has one of four tickets may sit down")
	path := flags.String("trace", "", "log each operation on the spaces to this file")
	if flags.Parse(args) != nil || flags.NArg() > 0 || d.rounds < 1 {
		fmt.Fprintln(out, "philosophers: -rounds is 1 or more, and there are no other arguments")
		return 2
	}
	if *path != "" {
		f, err := os.Create(*path)
		if err != nil {
			fmt.Fprintln(out, "philosophers:", err)
			return 1
		}
		defer f.Close() // the log says if it could not be written
		d.log = trace.NewWriter(f)
	}
	meals, err := d.serve(ctx)
	fmt.Fprintf(out, "%d meals were eaten\n", meals)
	if d.log != nil {
		err = errors.Join(err, d.log.Err())
	}
	if err != nil {
		fmt.Fprintln(out, "philosophers:", err)
		return 1
	}
	return 0
}
