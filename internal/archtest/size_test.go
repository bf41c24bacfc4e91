package archtest

import (
	"fmt"
	"go/ast"
	"slices"
	"testing"
)

// The hard limits, and the aims that are only printed.
const (
	maxFileLines     = 600
	maxFunctionLines = 80
	worst            = 5 // offenders printed
)

type measured struct {
	name  string
	lines int
}

func TestNoFileIsOver600Lines(t *testing.T) {
	t.Parallel()
	var code, tests []measured
	for _, s := range tree(t) {
		m := measured{s.path, s.lines}
		if s.test() {
			tests = append(tests, m)
		} else {
			code = append(code, m)
		}
	}
	report(t, "files of code (aim: median 120)", code, maxFileLines)
	report(t, "files of tests", tests, maxFileLines)
}

func TestNoFunctionIsOver80Lines(t *testing.T) {
	t.Parallel()
	var code, tests []measured
	for _, s := range tree(t) {
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			first := s.line(f.Pos())
			m := measured{fmt.Sprintf("%s:%d %s", s.path, first, f.Name.Name), s.line(f.End()) - first + 1}
			if s.test() {
				tests = append(tests, m)
			} else {
				code = append(code, m)
			}
		}
	}
	report(t, "functions (aim: median 12, p90 40)", code, maxFunctionLines)
	report(t, "functions of tests", tests, maxFunctionLines)
}

// report prints the median and the longest, and fails on those over the limit.
func report(t *testing.T, what string, all []measured, limit int) {
	t.Helper()
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b measured) int { return b.lines - a.lines })
	t.Logf("%s: %d, lines: median %d, p90 %d", what, len(all), all[len(all)/2].lines, all[len(all)/10].lines)
	for i, m := range all {
		switch {
		case m.lines > limit:
			t.Errorf("%s is %d lines long, over the limit of %d: split it by step, not by size", m.name, m.lines, limit)
		case i < worst:
			t.Logf("  %4d %s", m.lines, m.name)
		}
	}
}
