// Testsummary reads what `go test -json` writes and prints what a person wants
// of it: a line for each package, the whole output of what failed, the names of
// what was skipped, and last the line "N passed, N failed, N skipped".
//
//	go test -json ./... | testsummary [-o FILE]
//
// With -o the last line is also written to FILE, for .ci/run. A package that
// fails without a failing test (it does not build, it panics, it leaks) counts as
// one failure. Tests and their subtests count alike. The exit code is 1 when
// anything failed, or when nothing ran.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	to := flag.String("o", "", "also write the last line to this file")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, *to); err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, to string) error {
	s := newSummary(out)
	if err := s.readAll(in); err != nil {
		return err
	}
	line := s.print()
	if to != "" {
		if err := os.WriteFile(to, []byte(line+"\n"), 0o644); err != nil {
			return err
		}
	}
	switch {
	case s.failed > 0:
		return errors.New("there are failures")
	case s.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}

// event is one line of `go test -json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of a build
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
}

// summary counts, and keeps the output of what has not ended.
type summary struct {
	out                     io.Writer
	passed, failed, skipped int
	output                  map[string]*strings.Builder // by package and test, or by build
	failedIn                map[string]int              // package: failing tests
	failures, skips         []string
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: make(map[string]*strings.Builder), failedIn: make(map[string]int)}
}

func (s *summary) readAll(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil && e.Action != "" {
				s.take(e)
			} else { // go itself speaks plainly when it cannot begin
				fmt.Fprintf(s.out, "%s", line)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) take(e event) {
	id := e.Package + " " + e.Test
	switch {
	case e.Action == "output":
		s.keep(id, e.Output)
	case e.Action == "build-output":
		s.keep(e.ImportPath, e.Output)
	case e.Test != "":
		s.testEnds(id, e)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		s.packageEnds(id, e)
	}
}

func (s *summary) testEnds(id string, e event) {
	switch e.Action {
	case "pass":
		s.passed++
	case "skip":
		s.skipped++
		s.skips = append(s.skips, id)
	case "fail":
		s.failed++
		s.failedIn[e.Package]++
		s.failures = append(s.failures, s.section(id))
	default:
		return
	}
	delete(s.output, id)
}

func (s *summary) packageEnds(id string, e event) {
	if e.Action != "skip" { // no test files
		fmt.Fprintf(s.out, "%-4s %7.2fs  %s\n", e.Action, e.Elapsed, e.Package)
	}
	if e.Action == "fail" && s.failedIn[e.Package] == 0 {
		s.failed++
		if e.FailedBuild != "" {
			s.failures = append(s.failures, s.section(e.FailedBuild))
		}
		// A test that ended the process has not ended itself: it tells why.
		for key := range s.output {
			if strings.HasPrefix(key, e.Package+" ") && key != id {
				s.failures = append(s.failures, s.section(key))
			}
		}
		s.failures = append(s.failures, s.section(id))
	}
	delete(s.output, id)
}

// maxKept bounds what is kept of one test; what follows is dropped.
const maxKept = 1 << 20

func (s *summary) keep(id, text string) {
	b := s.output[id]
	if b == nil {
		b = new(strings.Builder)
		s.output[id] = b
	}
	if b.Len() < maxKept {
		b.WriteString(text)
	}
}

// section is everything that id printed, under its name.
func (s *summary) section(id string) string {
	text := ""
	if b := s.output[id]; b != nil {
		text = b.String()
	}
	return fmt.Sprintf("\n=== %s\n%s", strings.TrimSpace(id), text)
}

// print prints what there is to tell, and returns the last line.
func (s *summary) print() string {
	for _, f := range s.failures {
		fmt.Fprint(s.out, f)
	}
	slices.Sort(s.skips)
	for _, id := range s.skips {
		fmt.Fprintln(s.out, "skipped:", id)
	}
	line := fmt.Sprintf("%d passed, %d failed, %d skipped", s.passed, s.failed, s.skipped)
	fmt.Fprintln(s.out, line)
	return line
}
