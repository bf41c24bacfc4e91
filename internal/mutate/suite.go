package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
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
	Tests  []measured
	Blocks map[block]bool // all that could be run
}

// measured is one test without a mutant.
type measured struct {
	Name string
	Took time.Duration
	Runs map[block]bool
}

// block is a part of a file that runs as a whole, as a coverage profile names it.
type block struct {
	File     string // import path and name
	From, To int    // lines
}

// measure runs each test of a package by itself, and notes which blocks it runs and how long it
// takes. A test that fails or exceeds the limit without a mutant is left out and named, because
// with a mutant all that fail count as kills. The result is kept for the same binary, unless a
// test was left out, because the machine may have been too busy. The error is that of the go
// command or of a file.
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
	s := &suite{pkg: p, Blocks: map[block]bool{}}
	kept, err := keptAs(binary, only)
	if err != nil || s.load(kept) == nil {
		return s, err
	}
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
		m := measured{Name: name, Took: time.Since(begun)}
		if m.Runs, err = s.readProfile(profile); err != nil {
			return nil, err
		}
		s.Tests = append(s.Tests, m)
	}
	slices.SortStableFunc(s.Tests, func(a, b measured) int { return int(a.Took - b.Took) })
	if len(s.Tests) < len(names) {
		return s, nil
	}
	return s, s.save(kept)
}

// keptAs returns the file in the user's cache folder that keeps what was measured with a test
// binary, because measuring takes minutes; other code makes another binary. It fails if the binary
// cannot be read, or if the user has no cache folder.
func keptAs(binary, only string) (string, error) {
	text, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "leasehold", "mutate", fmt.Sprintf("%x.gob", sha256.Sum256(append(text, only...)))), nil
}

// load reads what save has kept; without such a file it returns an error.
func (s *suite) load(kept string) error {
	text, err := os.ReadFile(kept)
	if err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(text)).Decode(s)
}

// save keeps what was measured in the file kept, for the user alone. The error is that of the
// system.
func (s *suite) save(kept string) error {
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(s); err != nil {
		return err
	}
	return os.WriteFile(kept, text.Bytes(), 0o600)
}

// listTests returns the names of the tests, examples and fuzz tests in a test binary that match a
// pattern; "" matches all. The error is that of running the binary.
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

// readProfile reads a coverage profile, adds its blocks to s.Blocks, and returns those that ran.
// A line that is not one of a block, such as that of the mode, is skipped; a block that cannot be
// readProfile is an error.
func (s *suite) readProfile(profile string) (map[block]bool, error) {
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	runs := map[block]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		m := profileLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		b := block{File: m[1]}
		_, err1 := fmt.Sscan(m[2], &b.From)
		_, err2 := fmt.Sscan(m[3], &b.To)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("coverage profile: %q: %w", lines.Text(), err)
		}
		s.Blocks[b] = true
		if m[4] != "0" {
			runs[b] = true
		}
	}
	return runs, nil
}

// covering returns the tests that run the line of a mutant, those that take less time first. A
// line of no block, such as that of a constant, may matter to every test.
func (s *suite) covering(c candidate) []measured {
	at := block{File: path.Join(c.pkg.ImportPath, filepath.Base(c.mutant.file)), From: c.mutant.runsAt}
	has := func(blocks map[block]bool) bool {
		for b := range blocks {
			if b.File == at.File && b.From <= at.From && at.From <= b.To {
				return true
			}
		}
		return false
	}
	if !has(s.Blocks) {
		return s.Tests
	}
	var tests []measured
	for _, m := range s.Tests {
		if has(m.Runs) {
			tests = append(tests, m)
		}
	}
	return tests
}
