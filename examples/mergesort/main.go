package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
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

// run runs the program and returns its exit code: 2 for wrong arguments, 1 if sorting or the
// trace fails. Each worker that dies or is late needs two runs of its own, so there must be twice
// as many numbers.
func run(ctx context.Context, args []string, out io.Writer) int {
	s := sorter{lease: time.Second}
	flags := flag.NewFlagSet("mergesort", flag.ContinueOnError)
	flags.SetOutput(out)
	count := flags.Int("numbers", 40, "count of numbers to sort, up to 10000")
	seed := flags.Uint64("seed", 1, "seed of the numbers")
	flags.IntVar(&s.workers, "workers", 4, "workers that work to the end")
	flags.IntVar(&s.dead, "dead", 0, "further workers that die with their first two runs")
	flags.IntVar(&s.slow, "slow", 0, "further workers that are late with their first two runs")
	path := flags.String("trace", "", "log each operation on the spaces to this file")
	if flags.Parse(args) != nil || flags.NArg() > 0 || *count < 1 || *count > 10_000 || s.workers < 1 || s.dead < 0 || s.slow < 0 || s.dead > *count || s.slow > *count || 2*(s.dead+s.slow) > *count {
		fmt.Fprintln(out, "mergesort: want -numbers of 1 to 10000 and at least twice -dead plus -slow, -workers of 1 or more, and no other arguments")
		return 2
	}
	if *path != "" {
		f, err := os.Create(*path)
		if err != nil {
			fmt.Fprintln(out, "mergesort:", err)
			return 1
		}
		defer f.Close() // write errors are in s.log.Err
		s.log = trace.NewWriter(f)
	}
	random := rand.New(rand.NewPCG(*seed, *seed))
	numbers := make([]int, *count)
	for i := range numbers {
		numbers[i] = random.IntN(1000)
	}
	sorted, err := s.sort(ctx, numbers)
	if s.log != nil {
		err = errors.Join(err, s.log.Err())
	}
	if err != nil {
		fmt.Fprintln(out, "mergesort:", err)
		return 1
	}
	fmt.Fprintln(out, sorted)
	fmt.Fprintf(out, "%d merges were late and refused\n", s.late.Load())
	return 0
}
