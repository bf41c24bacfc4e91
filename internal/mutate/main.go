// Mutate measures whether tests would notice a mistake. It changes one place of a package
// at a time, runs the tests of the package, and prints whether they failed (the mutant was
// killed) or passed (it survived).
//
//	go run ./internal/mutate -seed 1 -sample 20 ./shared/protocol/task ./worker
//
// The changes are: conditions of if negated; comparisons, && and || swapped; statements
// dropped; errors that are returned made nil; continue and break exchanged; integer
// constants + 1 and - 1. Mutants that do not compile are replaced by others. The same seed
// chooses the same mutants as long as the code is the same.
//
// All mutants are compiled at once: each test binary contains those of all packages, and a variable
// of the environment switches one of them on. Those that cannot be switched, such as constants in
// declarations, are compiled one by one.
//
// Of the tests, only those run that reach the mutant, and those that take less time run first.
// For that each test of a package runs once by itself, when the first mutant of the package is tested.
// A mutant that no test reaches survives without a run. What other processes run, which tests
// start, does not count unless it is the test binary. If the tests of its own package pass, those
// of the packages in [exercisedBy] run, which test the package from outside.
//
// It never writes into the source tree: mutants are an overlay of the build (go test
// -overlay), and rapid does not keep the inputs that failed. A mutant whose tests take longer than
// the time limit counts as killed. Statements that only log are not dropped. Some survivors are
// equivalent to the original, so that no test can fail; the reader has to judge that.
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

// run draws mutants until enough of them compile, and prints the verdict on each. The choice
// depends on the seed and the code alone. The error is that of the arguments, of the go command
// or of a test run.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "seed of the choice")
	sample := flags.Int("sample", 20, "how many mutants to test; 0: all")
	limit := flags.Duration("timeout", 2*time.Minute, "time limit of the tests of one package with one mutant")
	tests := flags.String("tests", "", "packages whose tests run too if the others pass, separated by commas")
	own := flags.Bool("own", false, "run only the tests of the changed package itself and of -tests")
	parallel := flags.Int("parallel", 2, "how many tests or mutants run at the same time")
	at := flags.String("at", "", "only mutants of this FILE or FILE:LINE, as it is printed")
	only := flags.String("run", "", "run only the tests that match this pattern, as go test does")
	with := flags.String("exec", "", "run compilers and tests with this program and its arguments, such as nice or flock")
	if err := flags.Parse(args); err != nil {
		return err
	}
	packages, err := listPackages(ctx, flags.Args())
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := newTester(dir, max(*parallel, 1))
	t.limit, t.only, t.exec = *limit, *only, strings.Fields(*with)
	if t.others, err = listOthers(ctx, packages, strings.FieldsFunc(*tests, func(r rune) bool { return r == ',' }), *own); err != nil {
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
	check, err := newChecker(ctx, packages)
	if err != nil {
		return err
	}
	chosen, invalid := choose(all, *sample, check)
	if err := t.prepare(chosen, check); err != nil {
		return err
	}
	survived, byOthers, err := t.printVerdicts(ctx, chosen, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d of %d killed (%.0f %%), %d of them by tests of other packages, seed %d, %d drawn that do not compile\n",
		len(chosen)-survived, len(chosen), 100*float64(len(chosen)-survived)/float64(max(len(chosen), 1)), byOthers, *seed, invalid)
	return nil
}

// printVerdicts tests mutants and prints the verdict on each. It returns how many survived, and how
// many only tests of other packages killed. The error is that of the first test run that failed.
func (t *tester) printVerdicts(ctx context.Context, chosen []candidate, out io.Writer) (survived, byOthers int, err error) {
	for r := range t.testAll(ctx, chosen) {
		if r.err != nil {
			return 0, 0, r.err
		}
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
	return survived, byOthers, nil
}

// choose returns the first mutants that compile (0: all), and how many before them did not.
func choose(all []candidate, sample int, check *checker) (chosen []candidate, invalid int) {
	for _, c := range all {
		if len(chosen) == sample && sample > 0 {
			break
		}
		if !check.compiles(c, c.mutant.apply(c.source)) {
			invalid++
			continue
		}
		c.number = len(chosen) + 1
		c.switchable = check.switchable(c)
		chosen = append(chosen, c)
	}
	return chosen, invalid
}

// candidate is a mutant with its package and the text of its file.
type candidate struct {
	pkg        goPackage
	mutant     mutant
	source     []byte
	number     int  // of the chosen one, from 1
	switchable bool // at run time; else it is compiled by itself
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
					all = append(all, candidate{pkg: p, mutant: m, source: source})
				}
			}
		}
	}
	return all, nil
}
