package syntax_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/syntax"
)

const slimInit = `IndexSpace = (R, INF, {}), TaskSpace = (R,INF, {}), r=0, res=0, id=0, task=0, flowsLeft=3, tasksLeft=12`

func slim(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile(filepath.FromSlash("../../examples/original/small.tup"))
	require.NoError(t, err)
	return string(src)
}

func TestTheOriginalsTwoBoxesAreReadUnchanged(t *testing.T) {
	t.Parallel()
	p, err := syntax.Boxes{InitFile: "init", Init: slimInit, File: "slim", Program: slim(t)}.Parse()
	require.NoError(t, err)
	require.Len(t, p.Procs, 3)
	require.Len(t, p.Decls, 8)
	require.Equal(t, "P2", p.Procs[1].Title)
}

func TestErrorsNameTheExpectedToken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, says string }{
		{"", "1:1: expected a statement, found the end of the file"},
		{"x = 0\n", "expected --- on a line of its own"},
		{"x = 0\n---\n", "3:1: expected a statement, found the end of the file"}, // a model without processes
		{"par rap", "1:5: expected a statement, found rap"},
		{"_: skip", "1:1: expected a label, found _"},
		{"x = 0\n---\nx = 1", "3:3: expected :=, found =; = compares, := assigns"},
		{"x = 0\n---\ny := 1", "3:1: y is not declared"},
		{"count = 0\n---\ncuont := 1", "did you mean count?"},
		{"x = 0, x = 1\n---\nskip", "1:8: x is already the name of a variable (1:1)"},
		{"x = 0\n---\nvar x", "x is already the name of a variable"},
		{"S = (X, INF, {})\n---\nskip", "1:6: expected a kind of space: R (random)"},
		{"S = (R, 1, {(1), (2)})\n---\nskip", "S has a capacity of 1 tuples, but 2 initial tuples"},
		{"S = (R, INF, {})\n---\nS.take(1)", "3:3: expected put, get, query, getp or queryp, found take"},
		{"S = (R, INF, {})\n---\nS.put(?x)", "put needs a value for each field"},
		{"S = (R, INF, {}), x=0\n---\nS.get(?x, ?x)", "?x occurs twice"},
		{"S = (R, INF, {}), x=0\n---\nS := 1", "S is a space: expected the name of a variable or a local variable"},
		{"x = 0\n---\nif x -> skip fi", "expected a condition, found a number"},
		{"x = 0\n---\nx := x > 1", "expected a number, found a condition"},
		{"x = 0\n---\nif x == 1 -> skip fi", "equal is one ="},
		{"x = 0\n---\nif 0 < x < 1 -> skip fi", "comparisons do not chain"},
		{"par skip [] skip", "expected ; or [] or rap, found the end of the file"},
		{"loop true -> skip", "expected ; or [] or pool (for the statement at 1:1), found the end of the file"},
		{"skip $ skip", `1:6: '$' is not a token of the language`},
		{"x = 99999999999\n---\nskip", "too large"},
		{"x = 2147483647 + 1\n---\nskip", "not within"},
		{"x = 1 / 0\n---\nskip", "division by zero"},
		{"skip\n---\nbound S <= 3;", "S is not declared"},
		{"skip\n---\ninvariant p: 1;", "expected a condition"},
		{"skip\n---\ninvariant p: [] true;", "expected a number"},
		{"skip\n---\nsafe;", "expected a property"},
		{"skip\n---\ndeadlockfree except W;", "W is not declared"},
		{"proc W = skip\n---\ndeadlockfree except W.idle;", "W has no label idle"},
		{"skip\n---\ndeadlockfree; deadlockfree;", "the property deadlockfree exists already"},
		{"par 0 * skip rap", "want 1 to 1000 copies"},
		{"atomic { atomic { skip } }", "atomic inside atomic"},
		{"atomic { if timeout -> skip fi }", "timeout is not allowed inside atomic"},
		{"S = (R, INF, {})\n---\nif S.getp(1) -> skip fi", "a guard already waits for its operation"},
		{"x = \"a\n---\nskip", `a symbol in quotes must end with "`},
		{"const S = 1..100000\n---\nskip", "at most 1000 values"},
		{strings.Repeat("if true -> ", 1000) + "skip", "nested more than 200 deep"},
		{"x = " + strings.Repeat("(", 100_000), "nested more than 200 deep"},
	} {
		_, err := syntax.Parse("m", c.src)
		require.ErrorContains(t, err, c.says, "%.60s", c.src)
		require.ErrorAs(t, err, new(syntax.Errors), c.src)
	}
}

func TestAMissingSemicolonIsOneError(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"S.put(1)\nS.get(1)",
		"par loop true -> S.put(1)\nS.get(1); skip pool [] skip rap",
		"par S.put(1)\nif S.get(1) -> skip [] else -> skip fi [] skip rap",
		"atomic { S.put(1)\nS.get(1); skip }; skip",
	} {
		_, err := syntax.Parse("m", "S = (R, INF, {})\n---\n"+body)
		var all syntax.Errors
		require.ErrorAs(t, err, &all, body)
		require.Len(t, all, 1, body)
		require.Equal(t, 4, all[0].Pos.Line, body)
		require.Contains(t, all[0].Msg, "expected ; before the next statement", body)
	}
}

func TestSeveralErrorsAreFoundInOneRun(t *testing.T) {
	t.Parallel()
	_, err := syntax.Parse("m", "x = , y = 0\n---\npar y := ; y := 1 [] if y -> fi [] S.(1) ; y = 2 rap\n---\nbound;\ninvariant p y;\ndeadlockfree;")
	var es syntax.Errors
	require.ErrorAs(t, err, &es)
	var places []string
	for _, e := range es {
		places = append(places, e.Pos.String())
	}
	require.Equal(t, []string{"1:5", "3:10", "3:30", "3:38", "3:46", "5:6", "6:13"}, places, err)
}

func TestErrorsAreBounded(t *testing.T) {
	t.Parallel()
	_, err := syntax.Parse("m", strings.Repeat("x := ;\n", 100_000))
	var es syntax.Errors
	require.ErrorAs(t, err, &es)
	require.Len(t, es, syntax.MaxErrors+1)
	require.Contains(t, es[syntax.MaxErrors].Msg, "more errors")
}

func TestALongProgramIsRead(t *testing.T) {
	t.Parallel()
	p, err := syntax.Parse("m", "x = 0\n---\n"+strings.Repeat("x := (x + 1) % 5;\n", 100_000)+"skip")
	require.NoError(t, err)
	require.Len(t, p.Procs[0].Body, 100_001)
	_, err = syntax.Parse("m", strings.Repeat(" ", syntax.MaxSource+1))
	require.ErrorContains(t, err, "at most")
}

func TestWordsOfTheExtensionsAreNamesElsewhere(t *testing.T) {
	t.Parallel()
	_, err := syntax.Parse("m", `count = 0, R = (R, INF, {}), timeout = 1, const = 2, proc = 3, atomic = 4, U = 5, else = 1
---
par R.put(count, timeout); atomic := U; proc := const [] loop else = 1 -> var := 2; bound := 1 pool rap`)
	require.ErrorContains(t, err, "3:75: var is not declared")
	require.ErrorContains(t, err, "3:85: bound is not declared")
	require.Equal(t, 2, strings.Count(err.Error(), "\n")+1, err)
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src  string
		says []string
	}{
		{"x = 0\n---\npar x := 1 [] x := 2 rap", []string{"1:1: warning: x is one shared variable, written by P1, P2"}},
		{"x = 0\n---\npar 2 * x := 1 rap", []string{"x is one shared variable, written by P1 (copy 1), P1 (copy 2)"}},
		{"par 2 * var x; x := 1 rap", nil},
		{"x = 0\n---\nloop x > 0 -> x := x - 1 pool", []string{"3:1: warning: loop has no exit"}},
		{"x = 0\n---\nloop x > 0 -> x := x - 1 [] x <= 0 -> x := 1 pool", nil},
		{"x = 0\n---\nloop !(x = 1) -> skip [] x = 1 -> skip pool", nil},
		{"S = (R, INF, {})\n---\nloop true -> S.put(1) pool", []string{"1:1: warning: S only grows"}},
		{"S = (R, 2, {})\n---\nloop true -> S.put(1) pool", nil},
		{"S = (R, 2, {(1)})\n---\nS.get(2)", []string{"3:1: warning: no put matches S.get(2)"}},
		{"const A = 2, S = (R, 2, {})\n---\npar S.put(1 + 1) [] S.get(A); S.query(1, _) rap", []string{"no put matches S.query(1, _)"}},
	} {
		p, err := syntax.Parse("m", c.src)
		require.NoError(t, err, c.src)
		got := syntax.Warn(p)
		require.Len(t, got, len(c.says), c.src)
		for i, says := range c.says {
			require.ErrorContains(t, got[i], says)
		}
	}
}

func TestPositionsAreThoseOfTheBoxes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ init, program, want string }{
		{"x = 0\n\n", "x :=\n", "prog:2:1: expected a number, a variable or (, found the end of the file"},
		{"x = 0,\ny = \n", "skip", "start:2:4: expected a number, a variable or (, found ---"},
		{"x = 0\n", "\nloop true -> skip", "prog:2:18: expected ; or [] or pool (for the statement at 2:1), found the end of the file"},
		{"x = 0", "loop true ->\n skip;\n x = 1", "prog:3:4: expected :=, found ="},
		{"x = 0", "var x; skip", "prog:1:5: x is already the name of a variable (start:1:1)"},
		{"x = 0, x = 1", "skip", "start:1:8: x is already the name of a variable (1:1)"},
		{"x = $", "y := 1", "start:1:5: '$' is not a token of the language\nstart:1:6: expected a number, a variable or (, found ---"},
		{"  ", "y := 1", "prog:1:1: y is not declared"},
	} {
		_, err := syntax.Boxes{InitFile: "start", Init: c.init, File: "prog", Program: c.program}.Parse()
		require.ErrorContains(t, err, c.want)
	}

	p, err := syntax.Boxes{InitFile: "start", Init: "\nx = 0", File: "prog", Program: "2 * proc P = x := x + 1;\nloop x > 1 -> skip pool"}.Parse()
	require.NoError(t, err)
	warnings := syntax.Warn(p)
	require.Len(t, warnings, 2)
	require.ErrorContains(t, warnings[0], "start:2:1: warning: x is one shared variable")
	require.ErrorContains(t, warnings[1], "prog:2:1: warning: loop has no exit")
}
