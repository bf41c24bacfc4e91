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
	s := sorter{lease: time.Second}
	flags := flag.NewFlagSet("mergesort", flag.ContinueOnError)
	flags.SetOutput(out)
	count := flags.Int("numbers", 40, "how many are sorted, up to 10000")
	seed := flags.Uint64("seed", 1, "of the numbers")
	flags.IntVar(&s.workers, "workers", 4, "how many work to the end")
	flags.IntVar(&s.dead, "dead", 0, "and how many besides die over their first two runs")
	flags.IntVar(&s.slow, "slow", 0, "and how many besides take too long over them")
	path := flags.String("trace", "", "log each operation on the spaces to this file")
	if flags.Parse(args) != nil || flags.NArg() > 0 || *count < 1 || *count > 10_000 || s.workers < 1 || s.dead < 0 || s.slow < 0 || s.dead > *count || s.slow > *count || 2*(s.dead+s.slow) > *count {
		fmt.Fprintln(out, "mergesort: -numbers is 1 to 10000 and twice -dead and -slow or more, -workers 1 or more, and there are no other arguments")
		return 2
	}
	if *path != "" {
		f, err := os.Create(*path)
		if err != nil {
			fmt.Fprintln(out, "mergesort:", err)
			return 1
		}
		defer f.Close() // the log says if it could not be written
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
	fmt.Fprintf(out, "%d merges were late and thrown away\n", s.late.Load())
	return 0
}
