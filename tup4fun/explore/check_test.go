package explore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func check(t testing.TB, src string, o Options) *Report {
	t.Helper()
	r := Check(t.Context(), model(t, src, 0), o)
	return r
}

// reductions returns all combinations of reductions.
func reductions() []Reduction {
	var all []Reduction
	for i := range 8 {
		all = append(all, Reduction{Dead: i&1 > 0, Symmetry: i&2 > 0, Order: i&4 > 0})
	}
	return all
}

func TestVerdictsDoNotDependOnReductions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, src, prop string
		holds           bool
	}{
		{"deadlock", "Fork = (R, INF, {(1), (2)})\n---\npar 2 * proc Phil(i) = loop true -> Fork.get(i); Fork.get(i % 2 + 1); Fork.put(i); Fork.put(i % 2 + 1) pool rap", "deadlockfree", false},
		{"tickets", "Fork = (R, INF, {(1), (2)}), T = (R, 1, {(0)})\n---\npar 2 * proc Phil(i) = loop true -> T.get(0); Fork.get(i); Fork.get(i % 2 + 1); Fork.put(i); Fork.put(i % 2 + 1); T.put(0) pool rap", "deadlockfree", true},
		{"may wait", "S = (R, 1, {})\n---\npar proc W = loop true -> idle: S.get(1) pool [] S.put(1) rap", "deadlockfree except W.idle", true},
		{"may wait elsewhere", "S = (R, 1, {})\n---\npar proc W = loop true -> S.get(1); idle: S.get(2) pool [] skip rap", "deadlockfree except W.idle", false},
		{"bound", "S = (R, INF, {})\n---\npar 3 * S.put(1) rap", "bound S <= 2", false},
		{"bound holds", "S = (R, INF, {})\n---\npar 3 * S.put(1) rap", "bound S <= 3", true},
		{"check, then add", "S = (R, INF, {})\n---\npar 2 * if count(S) = 0 -> S.put(1) [] else -> skip fi rap", "invariant one: count(S) <= 1", false},
		{"atomic", "S = (R, INF, {})\n---\npar 2 * atomic { if count(S) = 0 -> S.put(1) [] else -> skip fi } rap", "invariant one: count(S) <= 1", true},
		{"lost update", "n = 0\n---\npar 2 * var x; x := n; n := x + 1 rap", "invariant n: n < 2", false},
		{"quantifiers", "S = (R, INF, {})\n---\npar proc P(i) = S.put(i, \"a\") [] S.put(2, \"b\") rap", `invariant q: forall i in 1..2: exists s in {"a", "b"}: count(S, i, s) = 0 | i = 1 | s != "a"`, true},
		{"eventually", "S = (R, INF, {})\n---\npar S.put(1) [] S.get(1) rap", "eventually e: count(S) = 1", true},
		{"eventually, unfair", "S = (R, INF, {}), x = 0\n---\npar S.put(1) [] loop true -> x := 1 - x pool rap", "eventually e: count(S) = 1", false},
		{"eventually, fair", "S = (R, INF, {}), x = 0\n---\npar S.put(1) [] loop true -> x := 1 - x pool rap", "eventually e: count(S) = 1 under weakfair", true},
		{"leads to", "W = (R, 1, {}), D = (R, 1, {})\n---\npar loop true -> W.put(1) pool [] loop true -> W.get(_); D.put(1); D.get(1) pool rap", "leadsto l: count(W) = 1 ~> count(D) = 1 under weakfair", true},
		{"does not lead to", "W = (R, 1, {}), D = (R, 1, {})\n---\npar loop true -> W.put(1) pool [] W.get(_); D.put(1); D.get(1) rap", "leadsto l: count(W) = 1 ~> count(D) = 1 under weakfair", false},
		{"events", "W = (R, 2, {}), D = (R, 2, {})\n---\npar proc C(i) = W.put(1); W.put(2) [] 2 * proc X = var t; W.get(?t); D.put(t) rap", "ltl e: forall i in 1..2: [](put(W, (i)) -> <> put(D, (i))) under weakfair", true},
		{"an event too late", "W = (R, 2, {}), D = (R, 2, {})\n---\npar W.put(1); W.put(2) [] var t; W.get(?t); D.put(t) rap", "ltl e: forall i in 1..2: [](put(W, (i)) -> <> put(D, (i))) under weakfair", false},
		{"until", "x = 0\n---\nx := 1; x := 2; x := 0", "ltl u: x < 2 U x = 2", true},
		{"weak until", "x = 0\n---\nx := 1; x := 0", "ltl u: x < 2 W x = 2", true},
		{"not until", "x = 0\n---\nx := 1; x := 0", "ltl u: x < 2 U x = 2", false},
		{"infinitely often", "x = 0\n---\nloop true -> x := 1; x := 0 pool", "ltl a: [] <> (x = 1) & !<>[] (x = 1)", true},
	} {
		for _, r := range reductions() {
			for _, compact := range []bool{false, true} {
				rep := check(t, c.src+"\n---\n"+c.prop+";", Options{Reduction: r, Compact: compact})
				want := Holds
				if !c.holds {
					want = Violated
				}
				require.Equal(t, want, rep.Verdicts[0].Outcome, "%s %+v %s", c.name, r, rep.Verdicts[0].Detail)
				require.Equal(t, want, rep.Outcome, c.name)
				require.Equal(t, c.holds, rep.Verdicts[0].Trace == nil, c.name)
			}
		}
	}
}

func words(tr *Trace) string {
	var b strings.Builder
	for i, s := range tr.Steps {
		if i == tr.Cycle {
			b.WriteString("| ")
		}
		fmt.Fprintf(&b, "%s:", s.Process)
		for _, a := range s.Actions {
			fmt.Fprintf(&b, " %s%s", a.Text, a.Tuple)
		}
		b.WriteString("; ")
	}
	return b.String()
}

func TestATraceIsShortestAndTheSameInEachRun(t *testing.T) {
	t.Parallel()
	src := "Fork = (R, INF, {(1), (2), (3)})\n---\npar 3 * proc Phil(i) = loop true -> Fork.get(i); Fork.get(i % 3 + 1); Fork.put(i); Fork.put(i % 3 + 1) pool rap"
	var first string
	for cores := 1; cores <= 4; cores++ {
		for range 3 {
			r := check(t, src, Options{Cores: cores, Reduction: FullReduction})
			require.Equal(t, "deadlockfree", r.Verdicts[0].Name)
			got := words(r.Verdicts[0].Trace)
			if first == "" {
				first = got
			}
			require.Equal(t, first, got)
			require.Equal(t, []string{"Fork.get(i % 3 + 1)"}, r.Verdicts[0].Trace.End.Processes[2].Next)
		}
	}
	require.Len(t, strings.Split(strings.TrimSuffix(first, "; "), "; "), 6)
}

func TestCountsDoNotDependOnCores(t *testing.T) {
	t.Parallel()
	for _, red := range reductions() {
		m := model(t, big(1, 3, true), 2)
		var first counts
		for _, cores := range []int{1, 2, 3, 8} {
			s := newSearch(m, Options{Cores: cores, Reduction: red, States: 5_000}.withDefaults())
			s.run(t.Context(), toTheEnd)
			if cores == 1 {
				first = s.total
			}
			require.Equal(t, first, s.total, "%d cores, %+v", cores, red)
		}
	}
}

func TestWhatHasNoMeaningIsAStuckStateWithAReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, says string }{
		{"x = 0\n---\nx := 1 / x", "P1 at 3:1: x := 1 / x: division by zero"},
		{"x = 0\n---\nx := 1 % x", "division by zero"},
		{"x = 2147483647\n---\nx := x + 1", "the result is not within -2147483648 to 2147483647"},
		{"x = -2147483647\n---\nx := x - 2", "the result is not within -2147483648 to 2147483647"},
		{"A = [1, 2], x = 2\n---\nx := A[x]", "A[2]: the array has the elements 0 to 1"},
		{"A = [1, 2], x = -1\n---\nA[x] := 1", "A[-1]: the array has the elements 0 to 1"},
		{"symbol a, x = 0\n---\nx := a; x := x + 1", "a symbol is not a number"},
		{"symbol a, x = 0\n---\nx := a; if x < 1 -> skip fi", "a symbol is not a number"},
		{"S = (R, 1, {})\n---\natomic { skip; S.get(1) }", "atomic is blocked"},
		{"x = 0\n---\natomic { do true -> x := 1 - x od }", "atomic took more than 10000 steps"},
		{"x = 0\n---\npar 2 * loop true -> skip; x := 1 / 0 pool [] loop true -> skip pool rap", "division by zero"},
	} {
		for _, r := range reductions() {
			rep := check(t, c.src, Options{Reduction: r})
			last := rep.Verdicts[len(rep.Verdicts)-1]
			require.Equal(t, Violated, last.Outcome, c.src)
			require.Contains(t, last.Detail, c.says)
			require.NotZero(t, rep.Stuck)
		}
	}
}

func TestABoundThatIsReachedIsItsOwnVerdict(t *testing.T) {
	t.Parallel()
	src := "A = [0, 0, 0, 0, 0, 0, 0, 0, 0]\n---\npar 9 * proc P(i) = loop true -> A[i - 1] := (A[i - 1] + 1) % 10 pool rap"
	for o, says := range map[*Options]string{
		{States: 10_000}:        "more than 10000 states",
		{Memory: 1 << 20}:       "more than 1 MiB of memory",
		{Time: time.Nanosecond}: "the time is over",
	} {
		r := check(t, src, *o)
		require.Equal(t, Incomplete, r.Outcome)
		require.Contains(t, r.Reason, says)
		require.Equal(t, Incomplete, r.Verdicts[0].Outcome)
	}
}

func TestKindsOfSpaces(t *testing.T) {
	t.Parallel()
	for kind, want := range map[byte]string{'R': "1 3", 'Q': "1", 'S': "3", 'F': "1", 'L': "3"} {
		r, err := Build(t.Context(), model(t, fmt.Sprintf("S = (%c, INF, {(1, 0), (3, 0)}), x = 0\n---\nS.get(?x, 0)", kind), 0), Options{})
		require.Empty(t, err)
		var got []string
		for i := 1; i < r.Len(); i++ {
			got = append(got, r.Config(i).Variables[0].Value)
		}
		require.Equal(t, want, strings.Join(got, " "), string(kind))
	}
	for kind, matches := range map[byte]bool{'R': true, 'Q': false, 'S': false, 'F': true, 'L': true} {
		rep := check(t, fmt.Sprintf("S = (%c, INF, {(1), (2), (3)})\n---\nS.get(2)", kind), Options{})
		require.Equal(t, matches, rep.Terminated == 1, string(kind))
	}
}

func TestASpaceThatGrowsWithoutBoundIsReportedApart(t *testing.T) {
	t.Parallel()
	for _, r := range reductions() {
		rep := check(t, big(1, 1, false), Options{Reduction: r})
		require.Equal(t, Incomplete, rep.Outcome)
		require.Contains(t, rep.Reason, "IndexSpace grows without bound")
		require.True(t, rep.Spaces[0].Unbounded)
		require.False(t, rep.Spaces[1].Unbounded)
	}
	rep := check(t, "S = (R, INF, {}), n = 0\n---\nloop n < 20 -> S.put(1); n := n + 1 pool", Options{})
	require.Equal(t, Violated, rep.Outcome)
	require.Equal(t, SpaceSeen{Name: "S", Most: 20, Capacity: -1}, rep.Spaces[0])
	rep = check(t, "S = (R, INF, {})\n---\nloop count(S) < 20 -> S.put(1) pool", Options{})
	require.Equal(t, SpaceSeen{Name: "S", Most: 20, Capacity: -1}, rep.Spaces[0])
}

func TestAFormulaWithTooManyUntilsIsNotDecided(t *testing.T) {
	t.Parallel()
	var untils []string
	for i := range maxSets + 1 {
		untils = append(untils, fmt.Sprintf("!(x < %d U x = %d)", 1+i/9, -1-i%9))
	}
	for n, want := range map[int]Outcome{maxSets: Holds, maxSets + 1: Incomplete} {
		src := "x = 0\n---\nloop true -> x := 0 pool\n---\nltl p: " + strings.Join(untils[:n], " & ") + ";\n"
		r := check(t, src, Options{})
		require.Equal(t, want, r.Verdicts[0].Outcome, "%d untils: %s", n, r.Verdicts[0].Detail)
	}
}

// The search sets dead variables to 0, which no step did.
func TestStatesHaveNoDeadVariables(t *testing.T) {
	t.Parallel()
	src := `S = (R, 1, {}), seen = 0, done = 0
---
par proc Count = var i; i := 1; do i <= 2 -> i := i + 1; seen := i; done := i od; S.get(1) rap
---
deadlockfree;
eventually e: done = 4;`
	for _, dead := range []bool{true, false} {
		report := check(t, src, Options{Reduction: Reduction{Dead: dead}})
		for _, v := range report.Verdicts[:2] {
			require.Equal(t, Violated, v.Outcome)
			end := v.Trace.End
			if dead {
				require.Empty(t, end.Processes[0].Locals)
				require.Equal(t, []Value{{"done", "3"}}, end.Variables, "a property reads it")
				continue
			}
			require.Equal(t, []Value{{"i", "3"}}, end.Processes[0].Locals)
			require.Equal(t, []Value{{"seen", "3"}, {"done", "3"}}, end.Variables)
		}
	}
}
