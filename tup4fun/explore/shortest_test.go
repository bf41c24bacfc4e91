package explore

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomSteps returns a program of two or three processes with few states. Local steps are frequent,
// because partial-order reduction is about them.
func randomSteps(r *rand.Rand) string {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	var b strings.Builder
	b.WriteString("x = 0, S = (R, 2, {(1)})\n---\npar ")
	for i := range 2 + r.IntN(2) {
		if i > 0 {
			b.WriteString("\n[] ")
		}
		b.WriteString(pick("", "", "2 * ") + "var v; skip")
		for range 1 + r.IntN(4) {
			b.WriteString("; " + pick("skip", "v := v + 1", "x := v", "x := (x + 1) % 4", "v := x", "S.put(v)", "S.get(?v)", "v := 2 / v",
				"if v = 0 -> skip [] v > 0 -> v := 0 fi", "if true -> v := 2 [] true -> skip fi"))
		}
	}
	return b.String() + " rap\n---\n" + fmt.Sprintf("invariant i: x != %d;\nbound S <= %d;\ndeadlockfree;\n", 1+r.IntN(3), r.IntN(2))
}

// TestARunThatIsCalledShortestIsOne compares the lengths with those of searches without reductions.
func TestARunThatIsCalledShortestIsOne(t *testing.T) {
	t.Parallel()
	violated := 0
	for seed := range uint64(300) {
		src := randomSteps(rand.New(rand.NewPCG(seed, 1)))
		plain := check(t, src, Options{})
		for _, compact := range []bool{false, true} {
			reduced := check(t, src, Options{Reduction: FullReduction, Compact: compact})
			for i, v := range reduced.Verdicts {
				require.Equal(t, plain.Verdicts[i].Outcome, v.Outcome, "seed %d: %s\n%s", seed, v.Name, src)
				if v.Trace != nil {
					violated++
					require.True(t, v.Trace.Shortest)
					require.Len(t, v.Trace.Steps, len(plain.Verdicts[i].Trace.Steps), "seed %d: %s\n%s", seed, v.Name, src)
				}
			}
		}
	}
	require.Greater(t, violated, 300)
}

func TestAnErrorHidesNoOtherViolation(t *testing.T) {
	t.Parallel()
	r := check(t, "y = 0\n---\npar var x; skip; x := 1 / x [] y := 1 rap\n---\ninvariant same: y = 0;", Options{Reduction: FullReduction})
	require.Equal(t, Violated, r.Verdicts[0].Outcome)
	require.Equal(t, Violated, r.Verdicts[1].Outcome)
}

func TestARunIsNotCalledShortestIfThatIsUnknown(t *testing.T) {
	t.Parallel()
	src := "x = 0\n---\npar 9 * var v; v := 1; v := 2; v := 1; v := 2 [] var w; w := 1; w := 2; w := 1; w := 2; x := 1 rap\n---\ninvariant i: x = 0;\nltl l: [] (x = 0);"
	r := check(t, src, Options{Reduction: Reduction{Order: true}, States: 200})
	require.Equal(t, Violated, r.Verdicts[0].Outcome)
	require.False(t, r.Verdicts[0].Trace.Shortest, "the search without partial order has more than 200 states")
	r = check(t, strings.Replace(src, "9 *", "1 *", 1), Options{Reduction: FullReduction})
	require.True(t, r.Verdicts[0].Trace.Shortest)
	require.Len(t, r.Verdicts[0].Trace.Steps, 5)
	require.False(t, r.Verdicts[1].Trace.Shortest, "of a lasso only its two parts are short")
}

// TestTheChoicesOfATraceRepeatIt takes them in a Run, and requires the same steps.
func TestTheChoicesOfATraceRepeatIt(t *testing.T) {
	t.Parallel()
	traces := 0
	for seed := range uint64(100) {
		src := randomSteps(rand.New(rand.NewPCG(seed, 1))) + "ltl a: [] (x < 2);\neventually e: x = 3;\n"
		for _, v := range check(t, src, Options{Reduction: FullReduction}).Verdicts {
			if v.Trace == nil {
				continue
			}
			traces++
			run := NewRun(model(t, src, 0))
			for _, i := range v.Trace.Choices {
				require.True(t, run.Take(i), src)
			}
			require.Equal(t, fmt.Sprint(v.Trace.Steps), fmt.Sprint(run.Trace().Steps), src)
		}
	}
	require.Greater(t, traces, 200)
}
