package petri_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/petri"
)

const small = ".places p q\n.transitions t\n.flows\nt: {p} -> {q}\n"

func TestErrorsNameThePositionAndTheExpectedToken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, says string }{
		{small + ".initial_marking {r}", "n.apt:5:19: there is no place r"},
		{small + ".initial_marking {-1*p}", "n.apt:5:19: -1 is negative; want a weight of 1 to 1000000000"},
		{small + ".initial_marking {p, 2*p}", "n.apt:5:24: p is named twice; write the sum of both"},
		{small + ".initial_marking {9999999999*p}", "n.apt:5:19: 9999999999 is out of range; want a weight of 1 to 1000000000"},
		{small + ".initial_marking {0*p}", "0 is out of range"},
		{small + ".initial_marking {x*p}", "x is not a number"},
		{small + ".initial_marking {p} {q}", "n.apt:5:22: expected a section, because the initial marking is complete, found {"},
		{small + ".initial_marking {p", "n.apt:5:20: expected }, found the end of the file"},
		{small + "u: {p} -> {q}", "n.apt:5:1: there is no transition u"},
		{small + "t: {p} -> {q}", "n.apt:5:1: t has two flows, the first in line 4"},
		{small + "t {p}", "n.apt:5:3: expected :, found {"},
		{small + ".places p", "n.apt:5:1: .places occurs twice, first in line 1"},
		{small + ".place p", "n.apt:5:1: there is no section .place; the sections are .name"},
		{small + ".type TS", "n.apt:5:7: expected PN or LPN (place/transition nets), found TS"},
		{small + ".name x", "n.apt:5:7: expected a name in quotes, found x"},
		{small + ".name \"x", `n.apt:5:7: a text in quotes must end with " on its line`},
		{small + "/* x", "n.apt:5:1: a comment without */"},
		{small + "é", "n.apt:5:1: é is not a token of .apt"},
		{".places p p\n" + small[len(".places p q\n"):], "n.apt:1:11: p is already a place"},
		{".places p t q\n" + small[len(".places p q\n"):], "n.apt:2:14: t is already a place"},
		{".places p q\n.transitions t\n", "n.apt:3:1: the section .flows is missing"},
		{"", "n.apt:1:1: the section .places is missing"},
		{"p q", "n.apt:1:1: expected a section such as .places, found p"},
		{strings.Repeat(" ", petri.MaxSource+1), "the file has 4194305 bytes; at most 4194304 are read"},
		{".places " + names(petri.MaxNodes+1), "there are more than 10000 places and transitions"},
	} {
		_, err := petri.Parse("n.apt", c.src)
		require.ErrorContains(t, err, c.says, c.src[:min(200, len(c.src))])
	}
}

func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "p%d ", i)
	}
	return b.String()
}

func TestSeveralErrorsAreFoundInOneRunAndBounded(t *testing.T) {
	t.Parallel()
	_, err := petri.Parse("n.apt", small+"t: {x} -> {y}\n")
	require.Len(t, err, 3)
	_, err = petri.Parse("n.apt", small+strings.Repeat("u: {x} -> {y}\n", 100))
	require.Len(t, err, petri.MaxErrors+1)
}

func TestOtherPartsOfApt(t *testing.T) {
	t.Parallel()
	n := parse(t, `.name "n" .description "d" .type LPN
.flows /* first
*/ t: {p} -> {2*q} // here
.transitions t[label="a", x=1] u
.places p[capacity=3] q
.final_markings {{q}, {}}
.initial_marking {p}`)
	require.Equal(t, &petri.Net{Name: "n", Places: []string{"p", "q"}, Initial: petri.Marking{1, 0},
		Final:       []petri.Marking{{0, 1}, {0, 0}},
		Transitions: []petri.Transition{{Name: "t", Label: "a", In: []petri.Arc{{Place: 0, Weight: 1}}, Out: []petri.Arc{{Place: 1, Weight: 2}}}, {Name: "u"}}}, n)
	require.Equal(t, []petri.Marking{{1, 0}}, parse(t, small+".final_markings {p}").Final)
}

func TestAMarkingIsReadAlone(t *testing.T) {
	t.Parallel()
	n := parse(t, small)
	for src, says := range map[string]string{"{p": "expected }", "r": "there is no place r", "{p} q": "expected the end, found q"} {
		_, err := petri.ParseMarking(n, "--final", src)
		require.ErrorContains(t, err, says, src)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"original/index-flow.apt", "original/index-flow-repaired.apt", "petri/index-visit.apt"} {
		src, err := os.ReadFile("../../examples/" + name)
		require.NoError(f, err)
		f.Add(string(src))
	}
	f.Add(small + ".final_markings {{p}, {q}} /* */")
	f.Fuzz(func(t *testing.T, src string) {
		n, err := petri.Parse("n.apt", src)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		r := petri.Check(t.Context(), "n.apt", n, petri.Question{Options: petri.Options{Markings: 50, Semiflows: 20}})
		require.Contains(t, []explore.Outcome{explore.Holds, explore.Violated, explore.Incomplete}, r.Outcome)
	})
}
