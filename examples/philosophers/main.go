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

	"leasehold/shared/space/trace"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout)
	stop()
	os.Exit(code)
}

// run runs the program and returns its exit code: 2 for wrong arguments, 1 for a deadlock or a
// failed trace. The number of meals is printed in each case.
func run(ctx context.Context, args []string, out io.Writer) int {
	d := dinner{seats: 5, pause: time.Millisecond, mealTimeout: 2 * time.Second}
	flags := flag.NewFlagSet("philosophers", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&d.rounds, "rounds", 100, "meals of each of the five philosophers")
	flags.BoolVar(&d.tickets, "tickets", false, "require one of four tickets for each meal")
	path := flags.String("trace", "", "log each operation on the spaces to this file")
	if flags.Parse(args) != nil || flags.NArg() > 0 || d.rounds < 1 {
		fmt.Fprintln(out, "philosophers: want -rounds of 1 or more, and no other arguments")
		return 2
	}
	if *path != "" {
		f, err := os.Create(*path)
		if err != nil {
			fmt.Fprintln(out, "philosophers:", err)
			return 1
		}
		defer f.Close() // write errors are in d.log.Err
		d.log = trace.NewWriter(f)
	}
	meals, err := d.run(ctx)
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
