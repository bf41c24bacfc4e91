package explore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPropertyThatHoldsAndNeverBeginsIsVacuous(t *testing.T) {
	t.Parallel()
	src := "x = 0, S = (R, 2, {})\n---\npar x := 1; S.put(1) [] S.get(1); x := 2 rap\n---\n"
	for _, c := range []struct {
		prop   string
		detail string // empty: not vacuous
	}{
		{"leadsto p: x = 9 ~> x = 2", "x = 9 never occurs"},
		{"leadsto p: x = 1 ~> x = 2", ""},
		{"ltl p: [] (x = 9 -> <> x = 2)", "x = 9 never occurs"},
		{"ltl p: [] (put(S, 1) -> <> x = 2)", ""},
		{"ltl p: [] (put(S, 2) -> <> x = 2)", "put(S, 2) never occurs"},
		{"ltl p: [] (get(S, _) & x = 2 -> <> x = 2)", "get(S, _) & x = 2 never occurs"},
		{"ltl p: [] (<> [] x = 1 -> <> x = 9)", "<> [] x = 1 never occurs"},
		{"ltl p: [] ([] x = 2 -> <> x = 2)", ""},
		{"ltl p: <> (x = 9 -> x = 2)", ""},
		{"ltl p: x = 9 -> <> x = 2", ""},
		{"ltl p: forall i in 1..3: [] (put(S, i) -> <> x = 2)", ""},
		{"ltl p: forall i in 2..3: [] (put(S, i) -> <> x = 2)", "put(S, i) never occurs"},
		{"ltl p: [] forall i in 2..3: put(S, i) -> <> x = 2", "put(S, i) never occurs"},
		{"ltl p: [] (x = 0 -> <> x = 2) & [] (x = 7 -> <> x = 2)", "x = 7 never occurs"},
		{"invariant p: x = 9 -> count(S) = 0", "x = 9 never occurs"},
		{"invariant p: x = 2 -> count(S) = 0", ""},
		{"invariant p: forall i in 1..3: count(S, i) = 2 -> x = 1", "count(S, i) = 2 never occurs"},
		{"invariant p: forall i in 0..3: x = i -> count(S) <= 1", ""},
		{"bound S <= 1", ""},
		{"eventually p: x = 2", ""},
	} {
		for _, r := range reductions() {
			for _, cores := range []int{1, 3} {
				v := check(t, src+c.prop+";", Options{Reduction: r, Cores: cores}).Verdicts[0]
				require.Equal(t, Holds, v.Outcome, c.prop)
				require.Equal(t, c.detail != "", v.Vacuous, c.prop)
				require.Equal(t, c.detail, v.Detail, c.prop)
			}
		}
	}
}

func TestAPropertyThatIsViolatedOrUndecidedIsNotVacuous(t *testing.T) {
	t.Parallel()
	src := "x = 0\n---\npar loop x < 100 -> x := x + 1 pool rap\n---\nltl p: [] (x = -1 -> x = 2) & [] (x < 5);\ninvariant q: x = -1 -> x = 0;"
	for _, v := range check(t, src, Options{States: 50}).Verdicts {
		require.False(t, v.Vacuous, v.Name)
	}
	require.False(t, check(t, src, Options{}).Verdicts[0].Vacuous)
}

func TestStatementsThatNoRunReachesAreListed(t *testing.T) {
	t.Parallel()
	src := `x = 0, S = (R, 1, {})
---
par
   proc A = loop true -> x := 1 - x pool;
   x := 9
[]
   proc B = if x = 5 -> S.put(1) [] x < 5 -> skip [] else -> S.get(2) fi
[]
   2 * proc C = do S.get(1) -> skip [] timeout -> skip od
[]
   atomic { if x = 0 -> skip [] x > 1 -> x := 7 [] else -> skip fi; S.getp(_) }
rap
`
	want := []string{"5:4 A: x := 9", "7:16 B: x = 5", "7:25 B: S.put(1)", "7:54 B: else", "7:62 B: S.get(2)", "9:20 C: S.get(1)", "9:32 C: skip", "9:40 C: timeout", "9:51 C: skip",
		"11:33 P4: x > 1", "11:42 P4: x := 7"}
	for _, r := range reductions() {
		rep := check(t, src, Options{Reduction: r})
		var got []string
		for _, u := range rep.Unreached {
			got = append(got, u.Pos.String()+" "+u.Process+": "+u.Text)
		}
		require.Equal(t, want, got)
	}
	require.Nil(t, check(t, src, Options{States: 5}).Unreached, "unknown")
	require.Equal(t, []Unreached{}, check(t, "x = 0\n---\nx := 1", Options{}).Unreached)
}
