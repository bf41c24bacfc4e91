package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// suite is the tests of one package, with the mutants that each of them reaches.
type suite struct {
	pkg    goPackage
	binary string // with all mutants that can be switched
	tests  []measured
}

// measured is one test without a mutant.
type measured struct {
	name    string
	took    time.Duration
	reaches map[int]bool // mutants by number
}

// measure compiles the tests of a package, runs each by itself without a mutant, and notes which
// mutants it reaches and how long it takes. A test that fails or exceeds the limit is left out and
// named, because with a mutant all that fail count as kills. The error is that of the go command or
// of a file.
func (t *tester) measure(ctx context.Context, p goPackage) (*suite, error) {
	binary, err := t.compile(ctx, p, t.overlay())
	if err != nil {
		return nil, err
	}
	s := &suite{pkg: p, binary: binary}
	names, err := t.listTests(ctx, s)
	if err != nil {
		return nil, err
	}
	next := make(chan string, len(names))
	for _, name := range names {
		next <- name
	}
	close(next)
	var mu sync.Mutex // guards s.tests and err
	var workers sync.WaitGroup
	for range t.parallel {
		workers.Go(func() {
			for name := range next {
				m, passed, oneErr := t.measureOne(ctx, s, name)
				mu.Lock()
				if err = errors.Join(err, oneErr); passed {
					s.tests = append(s.tests, m)
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	slices.SortStableFunc(s.tests, func(a, b measured) int { return int(a.took - b.took) })
	return s, err
}

// listTests returns the names of the tests, examples and fuzz tests that may run. The error is that
// of running the binary.
func (t *tester) listTests(ctx context.Context, s *suite) (names []string, err error) {
	only := t.only
	if only == "" {
		only = "."
	}
	text, err := t.command(ctx, s.pkg, s.binary, "-test.list", only).Output()
	if err != nil {
		return nil, fmt.Errorf("list tests of %s: %w", s.pkg.ImportPath, err)
	}
	for line := range strings.Lines(string(text)) {
		if name := strings.TrimSpace(line); name != "" && !strings.HasPrefix(name, "Benchmark") {
			names = append(names, name)
		}
	}
	return names, nil
}

// passedLine has the time in which a test passed, without that of starting the process.
var passedLine = regexp.MustCompile(`(?m)^--- PASS: \S+ \((\S+)\)`)

// measureOne measures one test, and reports whether it passed.
func (t *tester) measureOne(ctx context.Context, s *suite, name string) (m measured, passed bool, err error) {
	reached := t.newFile()
	defer os.Remove(reached)
	v, output, err := t.runTests(ctx, testRun{binary: s.binary, of: s, names: []string{name}, limit: t.limit, env: envReached + "=" + reached})
	if err != nil {
		return m, false, err
	}
	if v != survives {
		fmt.Fprintf(os.Stderr, "mutate: %s: %s is left out: it fails or exceeds %s without a mutant\n", s.pkg.ImportPath, name, t.limit)
		return m, false, nil
	}
	m = measured{name: name, reaches: map[int]bool{}}
	if took := passedLine.FindSubmatch(output); took != nil { // nil if it was skipped
		if m.took, err = time.ParseDuration(string(took[1])); err != nil {
			return m, false, err
		}
	}
	text, err := os.ReadFile(reached)
	if err != nil && !os.IsNotExist(err) { // which tests that reach no mutant do not write
		return m, false, err
	}
	for line := range strings.Lines(string(bytes.TrimSpace(text))) {
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			return m, false, fmt.Errorf("mutants reached by %s: %w", name, err)
		}
		m.reaches[n] = true
	}
	return m, true, nil
}

// reaching returns the tests that reach a mutant, those that take less time first. All may reach
// one that cannot be switched.
func (s *suite) reaching(c candidate) []measured {
	if !c.switchable {
		return s.tests
	}
	var tests []measured
	for _, m := range s.tests {
		if m.reaches[c.number] {
			tests = append(tests, m)
		}
	}
	return tests
}
