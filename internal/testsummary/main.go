// Testsummary runs `go test -json` and prints what a person wants of it: a line for each
// package, the whole output of what failed, the names of what was skipped, and last the
// line "N passed, N failed, N skipped".
//
//	testsummary [-o FILE] 'go test -json' ./...
//
// With -o the last line is also written to FILE, for .ci/run. A package that
// fails without a failing test (it does not build, it panics, it leaks) counts as
// one failure. Tests and their subtests count alike. The exit code is 1 when
// anything failed, or when nothing ran.
//
// A package is tested once more if all that it says is that the race detector itself gave
// up, which tells nothing of it (Go 1.26 under testing/synctest, golang/go#78156).
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	to := flag.String("o", "", "also write the last line to this file")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: testsummary [-o FILE] COMMAND PACKAGE...")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Args()[1:], os.Stdout, *to); err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		os.Exit(1)
	}
}

// run tests packages with a command of the shell.
func run(command string, packages []string, out io.Writer, to string) error {
	s := newSummary(out)
	s.again = true
	ended := s.test(command, packages)
	if len(s.gaveUp) > 0 {
		s.again = false
		fmt.Fprintln(out, "the race detector gave up; once more:", strings.Join(s.gaveUp, " "))
		ended = s.test(command, s.gaveUp)
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
	return ended
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
	ended                   map[string]*count           // by package
	failures, skips         []string

	again  bool // a package in which the race detector gave up is tested once more
	gaveUp []string
}

// count is of the tests of one package.
type count struct{ passed, failed, skipped int }

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: make(map[string]*strings.Builder), ended: make(map[string]*count)}
}

// of counts the tests of a package.
func (s *summary) of(name string) *count {
	c := s.ended[name]
	if c == nil {
		c = new(count)
		s.ended[name] = c
	}
	return c
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
		s.of(e.Package).passed++
	case "skip":
		s.of(e.Package).skipped++
		s.skips = append(s.skips, id)
	case "fail":
		s.of(e.Package).failed++
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
	c := s.of(e.Package)
	delete(s.ended, e.Package)
	if e.Action == "fail" && c.failed == 0 {
		if s.again && s.detectorGaveUp(e.Package) {
			s.gaveUp = append(s.gaveUp, e.Package)
			return
		}
		c.failed++
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
	s.passed, s.failed, s.skipped = s.passed+c.passed, s.failed+c.failed, s.skipped+c.skipped
	delete(s.output, id)
}

// detectorGaveUp reports whether that is how a package ended, and forgets what it printed.
func (s *summary) detectorGaveUp(name string) (gaveUp bool) {
	for key, text := range s.output {
		gaveUp = gaveUp || strings.HasPrefix(key, name+" ") && strings.Contains(text.String(), "ThreadSanitizer: CHECK failed")
	}
	if gaveUp {
		maps.DeleteFunc(s.output, func(key string, _ *strings.Builder) bool { return strings.HasPrefix(key, name+" ") })
		s.skips = slices.DeleteFunc(s.skips, func(id string) bool { return strings.HasPrefix(id, name+" ") })
	}
	return gaveUp
}

// test runs the command with packages, and takes what it says.
func (s *summary) test(command string, packages []string) error {
	c := exec.Command("sh", slices.Concat([]string{"-c", command + ` "$@" 2>&1`, "sh"}, packages)...)
	in, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	if err := s.readAll(in); err != nil {
		return errors.Join(err, c.Process.Kill(), c.Wait())
	}
	if err := c.Wait(); err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return nil
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
