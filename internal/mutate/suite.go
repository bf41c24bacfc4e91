package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// suite is the tests of one package, with what each of them runs of the mutated packages.
type suite struct {
	pkg    goPackage
	tests  []measured
	blocks map[block]bool // all that could be run
}

// measured is one test without a mutant.
type measured struct {
	name string
	took time.Duration
	runs map[block]bool
}

// block is a part of a file that runs as a whole, as a coverage profile names it.
type block struct {
	file     string // import path and name
	from, to int    // lines
}

// measure runs each test of a package by itself. A test that fails or exceeds the limit without
// a mutant is left out and named, because with a mutant all that fail count as kills.
func measure(ctx context.Context, p goPackage, only string, of []goPackage, limit time.Duration) (*suite, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var mutated []string
	for _, m := range of {
		mutated = append(mutated, m.ImportPath)
	}
	binary, profile := filepath.Join(dir, "tests"), filepath.Join(dir, "profile")
	if err := goTool(ctx, p, "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary, "-cover", "-coverpkg", strings.Join(mutated, ","), p.ImportPath); err != nil {
		return nil, err
	}
	names, err := listTests(ctx, binary, only)
	if err != nil {
		return nil, err
	}
	s := &suite{pkg: p, blocks: map[block]bool{}}
	for _, name := range names {
		begun := time.Now()
		result, err := runTests(ctx, p, binary, []string{name}, limit, "-test.coverprofile", profile)
		if err != nil {
			return nil, err
		}
		if result != survives {
			fmt.Fprintf(os.Stderr, "mutate: %s: %s is left out: it fails or exceeds %s without a mutant\n", p.ImportPath, name, limit)
			continue
		}
		m := measured{name: name, took: time.Since(begun)}
		if m.runs, err = s.read(profile); err != nil {
			return nil, err
		}
		s.tests = append(s.tests, m)
	}
	slices.SortStableFunc(s.tests, func(a, b measured) int { return int(a.took - b.took) })
	return s, nil
}

// listTests returns the names of the tests, examples and fuzz tests in a test binary that
// match a pattern.
func listTests(ctx context.Context, binary, only string) (names []string, err error) {
	if only == "" {
		only = "."
	}
	text, err := exec.CommandContext(ctx, binary, "-test.list", only).Output()
	if err != nil {
		return nil, fmt.Errorf("list tests: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if name := strings.TrimSpace(line); name != "" && !strings.HasPrefix(name, "Benchmark") {
			names = append(names, name)
		}
	}
	return names, nil
}

var profileLine = regexp.MustCompile(`^(.+):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)

// read reads a coverage profile and returns the blocks that ran.
func (s *suite) read(profile string) (map[block]bool, error) {
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	runs := map[block]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		m := profileLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue // the mode
		}
		b := block{file: m[1]}
		_, err1 := fmt.Sscan(m[2], &b.from)
		_, err2 := fmt.Sscan(m[3], &b.to)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("coverage profile: %q: %w", lines.Text(), err)
		}
		s.blocks[b] = true
		if m[4] != "0" {
			runs[b] = true
		}
	}
	return runs, nil
}

// covering returns the tests that run the line of a mutant, those that take less time first. A
// line of no block, such as that of a constant, may matter to every test.
func (s *suite) covering(c candidate) []measured {
	at := block{file: path.Join(c.pkg.ImportPath, filepath.Base(c.mutant.file)), from: c.mutant.runsAt}
	has := func(blocks map[block]bool) bool {
		for b := range blocks {
			if b.file == at.file && b.from <= at.from && at.from <= b.to {
				return true
			}
		}
		return false
	}
	if !has(s.blocks) {
		return s.tests
	}
	var tests []measured
	for _, m := range s.tests {
		if has(m.runs) {
			tests = append(tests, m)
		}
	}
	return tests
}
