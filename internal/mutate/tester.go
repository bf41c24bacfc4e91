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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"leasehold/shared/process/platform"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed   verdict = "killed"
	survives verdict = "SURVIVED"
	timedOut verdict = "timeout" // twice, the second time with five times the limit; counts as killed
)

// goPackage is a package as go list prints it.
type goPackage struct {
	ImportPath, Name          string
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
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Name,Dir,GoFiles,TestGoFiles,XTestGoFiles"}, patterns...)...)
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

// newTester returns a tester that writes into a folder, and runs so many compilers and tests at
// the same time.
func newTester(dir string, parallel int) *tester {
	return &tester{dir: dir, parallel: parallel, slots: make(chan struct{}, parallel), suites: map[string]func() (*suite, error){}}
}

// tester runs tests with mutants.
type tester struct {
	dir      string // of overlays and binaries
	limit    time.Duration
	only     string // pattern of the tests that run; empty: all
	parallel int
	exec     []string               // program that runs all others
	others   map[string][]goPackage // of a mutated package: tested too if its own tests pass

	slots chan struct{} // one for each compiler and test that may run

	mu     sync.Mutex // guards suites and files
	suites map[string]func() (*suite, error)
	files  int // that were named
}

// prepare writes the overlay with all mutants that can be switched. The error is that of a file.
func (t *tester) prepare(chosen []candidate, check *checker) error {
	files := map[string]map[int]mutant{} // by path
	packages := map[string]map[int]candidate{}
	sources := map[string][]byte{}
	for _, c := range chosen {
		if !c.switchable {
			continue
		}
		path, name := c.mutant.file, c.pkg.ImportPath
		if sources[path] = c.source; files[path] == nil {
			files[path] = map[int]mutant{}
		}
		if packages[name] == nil {
			packages[name] = map[int]candidate{}
		}
		files[path][c.number], packages[name][c.number] = c.mutant, c
	}
	changed := map[string][]byte{}
	for path, mutants := range files {
		changed[path] = withSwitches(sources[path], mutants)
	}
	for name, numbered := range packages {
		k := check.packages[name]
		changed[filepath.Join(k.Dir, "mutants_.go")] = supportOf(k.Name, k.types, check.steps(numbered))
	}
	return t.writeOverlay(t.overlay(), changed)
}

// overlay returns the path of the overlay with all mutants that can be switched.
func (t *tester) overlay() string { return filepath.Join(t.dir, "overlay.json") }

// newFile returns a path that was not returned before.
func (t *tester) newFile() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.files++
	return filepath.Join(t.dir, strconv.Itoa(t.files))
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
		get = sync.OnceValues(func() (*suite, error) { return t.measure(ctx, p) })
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
func (t *tester) testAll(ctx context.Context, all []candidate) <-chan result {
	ctx, stop := context.WithCancel(ctx)
	next, results := make(chan candidate), make(chan result, len(all))
	var workers sync.WaitGroup
	for range t.parallel {
		workers.Go(func() {
			for c := range next {
				r := t.testMutant(ctx, c)
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

// testMutant returns the verdict on a mutant: that of the first tests that notice it, of its own
// package before the others. Only tests that reach it can notice it.
func (t *tester) testMutant(ctx context.Context, c candidate) (r result) {
	for _, p := range append([]goPackage{c.pkg}, t.others[c.pkg.ImportPath]...) {
		s, err := t.suite(ctx, p)
		if err != nil {
			return result{err: err}
		}
		if s == nil {
			continue
		}
		v, err := t.testWith(ctx, s, c)
		if err != nil || v != survives {
			return result{verdict: v, by: p.ImportPath, err: err}
		}
	}
	return result{verdict: survives}
}

// quick is how long the tests take that run first: most mutants need no others.
const quick = time.Second

// testWith runs the tests of a package that can notice a mutant, in groups (nextGroup). Their limit
// is far above the time that they took without a mutant, and after a timeout they run once more
// with five times the limit, because the machine may have been busy. The error is that of compiling
// or running the tests, or ctx's.
func (t *tester) testWith(ctx context.Context, s *suite, c candidate) (verdict, error) {
	tests, binary := s.reaching(c), s.binary
	if len(tests) > 0 && !c.switchable {
		overlay := t.newFile()
		if err := t.writeOverlay(overlay, map[string][]byte{c.mutant.file: c.mutant.apply(c.source)}); err != nil {
			return "", err
		}
		var err error
		if binary, err = t.compile(ctx, s.pkg, overlay); err != nil {
			return "", err
		}
		defer os.Remove(binary)
	}
	for len(tests) > 0 {
		n, took := nextGroup(tests)
		var names []string
		for _, m := range tests[:n] {
			names = append(names, m.name)
		}
		run := testRun{binary: binary, of: s, names: names, limit: min(t.limit, 20*time.Second+5*took), env: envOn + "=" + strconv.Itoa(c.number)}
		result, _, err := t.runTests(ctx, run)
		if result == timedOut {
			run.limit *= 5
			result, _, err = t.runTests(ctx, run)
		}
		if err != nil || result != survives {
			return result, err
		}
		tests = tests[n:]
	}
	return survives, nil
}

// nextGroup returns how many of tests, the quickest first, run together next, and how long they take
// without a mutant: as many as take quick together, or all if each takes longer.
func nextGroup(tests []measured) (n int, took time.Duration) {
	allSlow := tests[0].took >= quick
	for ; n < len(tests) && (allSlow || took < quick); n++ {
		took += tests[n].took
	}
	return n, took
}

// writeOverlay writes files and the overlay that puts them in the places of their paths. The error
// is that of a file.
func (t *tester) writeOverlay(overlay string, files map[string][]byte) error {
	replace := map[string]string{}
	for path, text := range files {
		original, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		changed := t.newFile()
		if err := os.WriteFile(changed, text, 0o600); err != nil {
			return err
		}
		replace[original] = changed
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(overlay, text, 0o600)
}

// command returns a command that runs in the folder of a package.
func (t *tester) command(ctx context.Context, p goPackage, name string, args ...string) *exec.Cmd {
	all := append(append(slices.Clone(t.exec), name), args...)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Dir = p.Dir
	return cmd
}

// slot waits until a program may run, and returns a function that ends it.
func (t *tester) slot() (end func()) {
	t.slots <- struct{}{}
	return func() { <-t.slots }
}

// compile returns the test binary of a package with an overlay. Its error has what the go command
// printed.
func (t *tester) compile(ctx context.Context, p goPackage, overlay string) (binary string, err error) {
	binary = t.newFile()
	defer t.slot()()
	cmd := t.command(ctx, p, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary, "-overlay", overlay, p.ImportPath)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c %s: %w: %s", p.ImportPath, err, text)
	}
	return binary, nil
}

// testRun is one run of some tests of a package.
type testRun struct {
	binary string
	of     *suite
	names  []string
	limit  time.Duration
	env    string
}

// runTests returns killed if a test fails, and what the tests printed. The error is ctx's, or that
// the binary cannot be run.
func (t *tester) runTests(ctx context.Context, r testRun) (verdict, []byte, error) {
	args := []string{"-test.v", "-test.failfast", "-test.run", "^(" + strings.Join(r.names, "|") + ")$", "-test.timeout", r.limit.String()}
	cmd := t.command(ctx, r.of.pkg, r.binary, args...)
	// Rapid would write what failed into the source tree, after 30 s in which it looks for a smaller case.
	cmd.Env = append(os.Environ(), r.env, "RAPID_NOFAILFILE=1", "RAPID_SHRINKTIME=0s")
	// A file, because Wait would wait for all who have a pipe, such as programs that live on.
	output, err := os.Create(t.newFile())
	if err != nil {
		return "", nil, err
	}
	defer os.Remove(output.Name())
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	defer t.slot()()
	runErr := platform.RunGroup(cmd, time.Second) // a changed program that a test started may never end
	text, err := os.ReadFile(output.Name())
	switch exit := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return "", nil, ctx.Err()
	case err != nil:
		return "", nil, err
	case runErr == nil:
		return survives, text, nil
	case bytes.Contains(text, []byte("panic: test timed out after")):
		return timedOut, text, nil
	case errors.As(runErr, &exit):
		return killed, text, nil
	}
	return "", nil, runErr
}
