// Mutate measures whether tests would notice a mistake. It changes one place of a package
// at a time, runs the tests of the package, and prints whether they failed (the mutant was
// killed) or passed (it survived).
//
//	go run ./internal/mutate -seed 1 -sample 20 ./shared/task ./worker
//
// The changes are: conditions of if negated; comparisons, && and || swapped; statements
// dropped; errors that are returned made nil; continue and break exchanged; integer
// constants + 1 and - 1. Mutants that do not compile are replaced by others. The same seed
// chooses the same mutants as long as the code is the same.
//
// Of the tests, only those run that cover the changed line, and those that take less time run first.
// For that each test of a package runs once by itself, when the first mutant of the package is tested.
// A mutant that no test covers survives without a run. What other processes run, which tests
// start, does not count. If the tests of its own package pass, those of the packages in
// [exercisedBy] run, which test the package from outside.
//
// It never writes into the source tree: a mutant is an overlay of the build (go test
// -overlay). A mutant whose tests take longer than the time limit counts as killed.
// Statements that only log are not dropped. Some survivors are equivalent to the original,
// so that no test can fail; the reader has to judge that.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

// main exits with 1 and prints the error if run fails.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		stop()
		os.Exit(1)
	}
}

// run draws mutants until enough of them compiled, and prints the verdict on each. The choice
// depends on the seed and the code alone. The error is that of the arguments, of the go command
// or of a test run.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "seed of the choice")
	sample := flags.Int("sample", 20, "how many mutants to test; 0: all")
	limit := flags.Duration("timeout", 2*time.Minute, "time limit of the tests of one package with one mutant")
	tests := flags.String("tests", "", "packages whose tests run too if the others pass, separated by commas")
	own := flags.Bool("own", false, "run only the tests of the changed package itself and of -tests")
	parallel := flags.Int("parallel", 1, "how many mutants are tested at the same time")
	at := flags.String("at", "", "only mutants of this FILE or FILE:LINE, as it is printed")
	only := flags.String("run", "", "run only the tests that match this pattern, as go test does")
	if err := flags.Parse(args); err != nil {
		return err
	}
	packages, err := listPackages(ctx, flags.Args())
	if err != nil {
		return err
	}
	t := tester{limit: *limit, only: *only, mutated: packages}
	if t.others, err = others(ctx, packages, strings.FieldsFunc(*tests, func(r rune) bool { return r == ',' }), *own); err != nil {
		return err
	}
	all, err := candidates(packages, *at)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("no mutants in %s: want packages with Go files, and FILE:LINE with code", strings.Join(flags.Args(), " "))
	}
	rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return t.report(ctx, all, *sample, max(*parallel, 1), *seed, out)
}

// report tests mutants until a number of them compiled (0: all), and prints each verdict and then
// the totals. The first error ends it.
func (t *tester) report(ctx context.Context, all []candidate, sample, parallel int, seed uint64, out io.Writer) error {
	tested, survived, byOthers, invalid := 0, 0, 0, 0
	for len(all) > 0 && (tested < sample || sample == 0) {
		n := len(all)
		if sample > 0 {
			n = min(n, sample-tested)
		}
		for r := range t.testAll(ctx, all[:n], parallel) {
			if r.err != nil {
				return r.err
			}
			if r.verdict == doesNotCompile {
				invalid++
				continue
			}
			tested++
			c, by := r.of, ""
			switch {
			case r.verdict == survives:
				survived++
			case r.by != c.pkg.ImportPath:
				byOthers++
				by = " (by " + r.by + ")"
			}
			fmt.Fprintf(out, "%-8s %s:%d: %s%s\n%s", r.verdict, c.mutant.file, c.mutant.line, c.mutant.what, by, c.mutant.diff(c.source))
		}
		all = all[n:]
	}
	fmt.Fprintf(out, "%d of %d killed (%.0f %%), %d of them by tests of other packages, seed %d, %d drawn that do not compile\n",
		tested-survived, tested, 100*float64(tested-survived)/float64(max(tested, 1)), byOthers, seed, invalid)
	return nil
}

// candidate is a mutant with its package and the text of its file.
type candidate struct {
	pkg    goPackage
	mutant mutant
	source []byte
}

// candidates returns the mutants of all packages, or only those at a FILE or FILE:LINE, in the
// order of the files. The error is that of at, or of a file that cannot be read or parsed.
func candidates(packages []goPackage, at string) ([]candidate, error) {
	wantFile, wantLine := at, 0
	if file, line, ok := strings.Cut(at, ":"); ok {
		n, err := strconv.Atoi(line)
		if err != nil {
			return nil, fmt.Errorf("-at %q: want FILE or FILE:LINE", at)
		}
		wantFile, wantLine = file, n
	}
	var all []candidate
	for _, p := range packages {
		for _, file := range p.files() {
			if at != "" && file != wantFile {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			mutants, err := findMutants(file, source)
			if err != nil {
				return nil, err
			}
			for _, m := range mutants {
				if wantLine == 0 || m.line == wantLine {
					all = append(all, candidate{p, m, source})
				}
			}
		}
	}
	return all, nil
}
