package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed         verdict = "killed"
	survives       verdict = "SURVIVED"
	timedOut       verdict = "timeout" // twice, the second time with five times the limit; counts as killed
	doesNotCompile verdict = "invalid"
)

// goPackage is a package as go list prints it.
type goPackage struct {
	ImportPath                string
	Dir                       string
	GoFiles                   []string
	TestGoFiles, XTestGoFiles []string
}

// files returns the files of the package relative to the working directory, if they are
// below it.
func (p goPackage) files() (paths []string) {
	wd, err := os.Getwd()
	for _, f := range p.GoFiles {
		path := filepath.Join(p.Dir, f)
		if rel, relErr := filepath.Rel(wd, path); err == nil && relErr == nil && filepath.IsLocal(rel) {
			path = rel
		}
		paths = append(paths, path)
	}
	return paths
}

func (p goPackage) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// listPackages returns the packages that match the patterns. The error is that of go list, which
// has printed why.
func listPackages(ctx context.Context, patterns []string) ([]goPackage, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles"}, patterns...)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
}

// tester runs tests with mutants. Several mutants may be tested at the same time.
type tester struct {
	limit   time.Duration
	only    string                 // pattern of the tests that run; empty: all
	mutated []goPackage            // that mutants are of
	others  map[string][]goPackage // of a mutated package: tested too if its own tests pass

	mu     sync.Mutex // guards suites
	suites map[string]func() (*suite, error)
}

// suite returns the tests of a package, which are measured once, also if several goroutines ask;
// nil if it has none. The error is that of measure.
func (t *tester) suite(ctx context.Context, p goPackage) (*suite, error) {
	if !p.hasTests() {
		return nil, nil
	}
	t.mu.Lock()
	get := t.suites[p.ImportPath]
	if get == nil {
		get = sync.OnceValues(func() (*suite, error) { return measure(ctx, p, t.only, t.mutated, t.limit) })
		if t.suites == nil {
			t.suites = map[string]func() (*suite, error){}
		}
		t.suites[p.ImportPath] = get
	}
	t.mu.Unlock()
	return get()
}

// result is the verdict on a mutant, and the package whose tests killed it.
type result struct {
	of      candidate
	verdict verdict
	by      string
	err     error
}

// testAll tests mutants, several at the same time, and returns each result when it is there. It
// ends when all have been sent, or with the first error, which stops the tests under way. The
// channel buffers all results, so the caller may stop reading.
func (t *tester) testAll(ctx context.Context, all []candidate, parallel int) <-chan result {
	ctx, stop := context.WithCancel(ctx)
	next, results := make(chan candidate), make(chan result, len(all))
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for c := range next {
				r := t.test(ctx, c)
				if r.of = c; r.err != nil {
					stop()
				}
				results <- r
			}
		})
	}
	go func() {
		defer close(results)
		defer stop()
		defer workers.Wait()
		defer close(next)
		for _, c := range all {
			select {
			case next <- c:
			case <-ctx.Done():
				return
			}
		}
	}()
	return results
}

// test returns the verdict on a mutant: that of the first tests that notice it, of its own
// package before the others. Only tests that run its line can notice it; without any, compiling
// it decides.
func (t *tester) test(ctx context.Context, c candidate) (r result) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return result{err: err}
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, c)
	if err != nil {
		return result{err: err}
	}
	compiled := false
	for _, p := range append([]goPackage{c.pkg}, t.others[c.pkg.ImportPath]...) {
		s, err := t.suite(ctx, p)
		if err != nil {
			return result{err: err}
		}
		if s == nil || len(s.covering(c)) == 0 {
			continue
		}
		v, err := t.testWith(ctx, s, c, filepath.Join(dir, "tests"), overlay)
		if err != nil || v != survives {
			return result{verdict: v, by: p.ImportPath, err: err}
		}
		compiled = true
	}
	if !compiled && goTool(ctx, c.pkg, "build", "-o", os.DevNull, "-overlay", overlay, c.pkg.ImportPath) != nil {
		return result{verdict: doesNotCompile, err: ctx.Err()}
	}
	return result{verdict: survives}
}

// quick is how long the tests take that run first: most mutants need no others.
const quick = time.Second

// testWith compiles the tests of a package with a mutant, and runs those that can notice it, the
// quick ones first and together. After a timeout they run once more with more time, because the
// machine may have been busy. The error is ctx's or that of running the tests.
func (t *tester) testWith(ctx context.Context, s *suite, c candidate, binary, overlay string) (verdict, error) {
	tests := s.covering(c)
	if goTool(ctx, s.pkg, "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary, "-overlay", overlay, s.pkg.ImportPath) != nil {
		return doesNotCompile, ctx.Err()
	}
	for len(tests) > 0 {
		n, all := 0, time.Duration(0)
		for ; n < len(tests) && (n == 0 || all < quick || tests[0].Took >= quick); n++ {
			all += tests[n].Took
		}
		var names []string
		for _, m := range tests[:n] {
			names = append(names, m.Name)
		}
		limit := min(t.limit, 20*time.Second+5*all)
		result, err := runTests(ctx, s.pkg, binary, names, limit)
		if result == timedOut {
			result, err = runTests(ctx, s.pkg, binary, names, 5*limit)
		}
		if err != nil || result != survives {
			return result, err
		}
		tests = tests[n:]
	}
	return survives, nil
}

// writeOverlay writes the mutated file and the overlay that puts it in the place of the original,
// and returns the path of the overlay. The error is that of a file.
func writeOverlay(dir string, c candidate) (string, error) {
	mutated := filepath.Join(dir, filepath.Base(c.mutant.file))
	if err := os.WriteFile(mutated, c.mutant.apply(c.source), 0o600); err != nil {
		return "", err
	}
	original, err := filepath.Abs(c.mutant.file)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

// goTool runs the go command in the folder of a package. Its error has what it printed.
func goTool(ctx context.Context, p goPackage, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = p.Dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s %s: %w: %s", args[0], p.ImportPath, err, text)
	}
	return nil
}

// runTests runs tests of a package within a time limit, and returns killed if one fails. The
// error is ctx's, or that the binary cannot be run.
func runTests(ctx context.Context, p goPackage, binary string, names []string, limit time.Duration, more ...string) (verdict, error) {
	args := append([]string{"-test.failfast", "-test.run", "^(" + strings.Join(names, "|") + ")$", "-test.timeout", limit.String()}, more...)
	tests := exec.CommandContext(ctx, binary, args...)
	tests.Dir = p.Dir
	tests.WaitDelay = time.Second // of programs that the tests started and that live on
	begun := time.Now()
	err := tests.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		return survives, nil
	case time.Since(begun) >= limit:
		return timedOut, nil
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return "", err
	}
	return killed, nil
}
