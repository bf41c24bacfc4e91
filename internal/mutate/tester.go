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
	"time"
)

// verdict is what became of a mutant.
type verdict string

const (
	killed         verdict = "killed"
	survives       verdict = "SURVIVED"
	timedOut       verdict = "timeout" // counts as killed
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

// list returns the packages that match the patterns.
func list(ctx context.Context, patterns []string) ([]goPackage, error) {
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

// tester runs tests with mutants.
type tester struct {
	limit  time.Duration
	only   string      // pattern of the tests that run; empty: all
	more   []goPackage // tested too if the own tests pass
	passes map[string]bool
}

// test returns the verdict on a mutant. The tests must pass without it, so the first
// mutant of a package costs a run of the unchanged tests.
func (t *tester) test(ctx context.Context, c candidate) (verdict, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir, c)
	if err != nil {
		return "", err
	}
	result := survives
	for _, p := range append([]goPackage{c.pkg}, t.more...) {
		if !p.hasTests() {
			continue
		}
		if err := t.unchanged(ctx, dir, p); err != nil {
			return "", err
		}
		if result, err = t.runTests(ctx, dir, p, overlay); err != nil || result != survives {
			return result, err
		}
	}
	return result, nil
}

// unchanged returns an error if the tests of a package fail without a mutant, because
// then all mutants would count as killed.
func (t *tester) unchanged(ctx context.Context, dir string, p goPackage) error {
	if t.passes[p.ImportPath] {
		return nil
	}
	result, err := t.runTests(ctx, dir, p, "")
	if err != nil {
		return err
	}
	if result != survives {
		return fmt.Errorf("%s: the tests fail or exceed %s without a mutant: fix them first", p.ImportPath, t.limit)
	}
	if t.passes == nil {
		t.passes = map[string]bool{}
	}
	t.passes[p.ImportPath] = true
	return nil
}

// writeOverlay writes the mutated file and the overlay that puts it in the place of the
// original, and returns the path of the overlay.
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

// runTests compiles the tests of a package and runs them within the time limit.
func (t *tester) runTests(ctx context.Context, dir string, p goPackage, overlay string) (verdict, error) {
	binary := filepath.Join(dir, "tests")
	args := []string{"test", "-c", "-vet=off", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	build := exec.CommandContext(ctx, "go", append(args, p.ImportPath)...)
	build.Dir = p.Dir
	if err := build.Run(); err != nil {
		return doesNotCompile, ctx.Err()
	}
	tests := exec.CommandContext(ctx, binary, "-test.failfast", "-test.run", t.only, "-test.timeout", t.limit.String())
	tests.Dir = p.Dir
	tests.WaitDelay = time.Second // of programs that the tests started and that live on
	begun := time.Now()
	err := tests.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err == nil:
		return survives, nil
	case time.Since(begun) >= t.limit:
		return timedOut, nil
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return "", err
	}
	return killed, nil
}
