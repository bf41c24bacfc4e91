package promela_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/promela"
	"leasehold/tup4fun/syntax"
)

// exported checks a model, and returns the report and the model in Promela.
func exported(t testing.TB, src string) (*explore.Report, string, error) {
	t.Helper()
	p, err := syntax.Parse("m", src)
	require.NoError(t, err, src)
	m, err := explore.Compile(p, 0)
	require.NoError(t, err)
	r := explore.Check(t.Context(), m, explore.Options{})
	text, err := promela.Export(m, promela.SeenIn(r))
	return r, text, err
}

// requireSameVerdicts requires that Spin decides each claim of a model as package explore does. It returns
// the number of properties that hold and that are violated.
func requireSameVerdicts(t testing.TB, src string) (holds, violated int) {
	t.Helper()
	r, text, err := exported(t, src)
	require.NoError(t, err, src)
	dir := compile(t, text)
	for _, v := range r.Verdicts {
		if v.Name == "noerrors" || v.Name == "deadlockfree" {
			continue
		}
		args := []string{"-a", "-m200000", "-w18", "-N", "p_" + strings.ReplaceAll(v.Name, " ", "_")}
		out := run(t, dir, "./pan", args...)
		require.NotContains(t, out, "search depth too small")
		spin := explore.Holds
		if !strings.Contains(out, "errors: 0") {
			spin = explore.Violated
			violated++
		} else {
			holds++
		}
		require.Equal(t, v.Outcome, spin, "%s: here, and with Spin\n%s\n%s\n%s", v.Text, src, text, out)
	}
	return holds, violated
}

func TestSpinDecidesTheSame(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"bounds":           "S = (R, INF, {})\n---\npar 3 * S.put(1) rap\n---\nbound S <= 3; invariant three: count(S) < 3; invariant all: forall i in 1..2: count(S, i) <= 3 & exists k in {0, 1}: count(S, k) = 0 -> true;",
		"atomic is a step": "x = 0, S = (R, 2, {})\n---\npar 2 * atomic { S.put(x); x := 1; x := 0 } rap\n---\ninvariant zero: x = 0; ltl never: [] (put(S, 0) -> x = 0); ltl one: <> x = 1; ltl put: <> put(S, 0);",
		"events end":       "S = (R, 2, {})\n---\npar S.put(1) [] S.put(2) rap\n---\nltl last: <> [] (put(S, 1) | put(S, 2)); ltl quiet: <> [] !put(S); ltl both: <> put(S, 1) & <> put(S, 2);",
		"unfair":           "x = 0, S = (R, 1, {}), T = (R, 1, {})\n---\npar S.put(1) [] loop true -> x := 1 - x pool [] var y; loop true -> T.put(1); T.getp(?y) pool rap\n---\neventually fair: count(S) = 1; eventually unfair: count(S) = 1; leadsto back: x = 1 ~> x = 0; ltl taken: [] (put(T, _) -> <> get(T, 1));",
		"until":            "x = 0\n---\nx := 1; x := 2; x := 0\n---\nltl u: x < 2 U x = 2; ltl n: x < 1 U x = 2; ltl w: x < 3 W x = 5; ltl v: x < 2 W x = 5; ltl i: !(x = 3) -> <> x = 0;",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireSameVerdicts(t, src)
		})
	}
}

// property returns a random property of a program of generator.program.
func (g generator) property(i int) string {
	state := func() string {
		return g.pick("x = 1", "y = 0", "count(S) = 1", "count(T, _) > 0", "x < y", "forall i in 0..1: A[i] = i", "count(S, 2) = 0 -> y != 1")
	}
	part := func() string {
		return g.pick(state(), state(), g.pick("put", "get", "query")+"("+g.pick("S, 1", "S, _", "T, _, 1", "T", "S, 2, _")+")")
	}
	switch g.r.IntN(5) {
	case 0:
		return fmt.Sprintf("invariant p%d: %s", i, state())
	case 1:
		return fmt.Sprintf("eventually p%d: %s", i, state())
	case 2:
		return fmt.Sprintf("leadsto p%d: %s ~> %s", i, state(), state())
	}
	a, b := part(), part()
	return fmt.Sprintf("ltl p%d: %s", i, g.pick("[] ("+a+" -> <> ("+b+"))", "[] <> ("+a+")", "<> [] ("+a+")", "("+a+") U ("+b+")", "("+a+") W ("+b+")",
		"!(<> ("+a+") & [] ("+b+"))", "[] (("+a+") | <> ("+b+"))"))
}

// TestSpinDecidesTheSameOnGeneratedPrograms generates as many programs as SPIN_PROGRAMS sets; make soak
// sets more.
func TestSpinDecidesTheSameOnGeneratedPrograms(t *testing.T) {
	t.Parallel()
	programs := 8
	if n := os.Getenv("SPIN_PROGRAMS"); n != "" {
		var err error
		programs, err = strconv.Atoi(n)
		require.NoError(t, err)
	}
	var holds, violated atomic.Int64
	t.Run("programs", func(t *testing.T) {
		for seed := range programs {
			g := generator{rand.New(rand.NewPCG(uint64(seed), 11))}
			src := g.program() + "---\nbound S <= 1;\nbound T <= 1;\n"
			for i := range 4 {
				src += g.property(i) + ";\n"
			}
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				h, v := requireSameVerdicts(t, src)
				holds.Add(int64(h))
				violated.Add(int64(v))
			})
		}
	})
	t.Logf("%d properties hold, %d are violated", holds.Load(), violated.Load())
	require.Greater(t, holds.Load(), int64(programs/2))
	require.Greater(t, violated.Load(), int64(programs/2))
}

func TestFivePhilosophersBlockInSpinToo(t *testing.T) {
	t.Parallel()
	src := "Fork = (R, 5, {(1), (2), (3), (4), (5)})\n---\npar 5 * proc Phil(i) = loop true -> Fork.get(i); waits: Fork.get(i % 5 + 1); Fork.put(i); Fork.put(i % 5 + 1) pool rap\n---\n"
	for property, stuck := range map[string]bool{"deadlockfree": true, "deadlockfree except Phil": false, "deadlockfree except Phil.waits": false} {
		r, text, err := exported(t, src+property+";")
		require.NoError(t, err)
		require.Equal(t, stuck, r.Outcome == explore.Violated, property)
		out := run(t, compile(t, text, "-DSAFETY", "-DNOCLAIM"), "./pan", "-m300000")
		require.Equal(t, stuck, strings.Contains(out, "pan:1: invalid end state"), property)
		require.Equal(t, !stuck, strings.Contains(out, "errors: 0"), property)
	}
}

func TestWhatSpinCannotSayIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, says string }{
		{"x = 0\n---\nx := 1 / x", "noerrors is violated, and Spin does not find such errors: P1 at 3:1: x := 1 / x: division by zero"},
		{"x = 0, A = [1, 2]\n---\nx := 1\n---\ninvariant i: A[x] = 1;", "i cannot be exported: Spin does not check the index of an array, or the divisor, in A[x]"},
		{"x = 0\n---\nx := 1\n---\neventually f: x = 1 under weakfair;", "f cannot be exported: under weakfair"},
		{"x = 0\n---\nx := 1\n---\neventually e: 3 / x = 3;", "e cannot be exported: Spin does not check"},
		{"S = (R, 1, {})\n---\nif S.get(1) -> skip [] timeout -> S.put(1) fi\n---\nltl l: <> put(S);", "l cannot be exported: the model has timeout"},
		{"x = 0, S = (R, 1, {})\n---\natomic { S.put(0); x := 1 }\n---\nltl l: <> put(S, x);", "l cannot be exported: Spin would evaluate x within atomic"},
	} {
		_, _, err := exported(t, c.src)
		require.ErrorContains(t, err, c.says)
	}
}
