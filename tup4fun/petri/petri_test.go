package petri_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/tup4fun/petri"
)

func example(t testing.TB, name string) *petri.Net {
	t.Helper()
	src, err := os.ReadFile("../../examples/petri/" + name)
	require.NoError(t, err)
	n, err := petri.ParseAPT(name, string(src))
	require.NoError(t, err)
	return n
}

func TestTheFlawedIndexFlow(t *testing.T) {
	t.Parallel()
	n := example(t, "index-flow.apt")
	r := n.Analyse(10_000)
	require.False(t, *r.Bounded)
	require.Equal(t, []string{"p8"}, r.Unbounded)
	require.Nil(t, r.Live)
	p0, p8 := n.Place("p0"), n.Place("p8")
	require.EqualValues(t, 0, n.Start[p0])
	g := n.Reach(10_000, func(m petri.Marking) bool { return m[p8] <= 6 })
	var ends, left int
	for _, m := range g.Markings {
		if m[p0] > 0 {
			ends++
			if m[p8] > 0 {
				left++
			}
		}
	}
	require.Equal(t, [2]int{7, 6}, [2]int{ends, left})
	m := make(petri.Marking, len(n.Places))
	m[p0], m[p8] = 1, 1000
	coverable, known := n.Coverable(m, 10_000)
	require.True(t, coverable && known)
}

func TestTheRepairedIndexFlow(t *testing.T) {
	t.Parallel()
	n := example(t, "index-flow-repaired.apt")
	r := n.Analyse(10_000)
	require.True(t, *r.Bounded)
	require.EqualValues(t, 3, r.Bound)
	require.Equal(t, 29, r.Markings)
	require.Equal(t, 35, r.Edges)
	require.Empty(t, r.Dead)
	require.True(t, *r.Live)
	require.True(t, *r.Reversible)
	for _, m := range n.Reach(100, nil).Markings {
		if m[n.Place("p0")] > 0 {
			require.Equal(t, n.Start, m)
		}
	}
	require.Contains(t, r.SFlows, "p8 + none")
	require.Contains(t, r.SFlows, "p0 + p2 + p4 + p6 + p10 + p12 + p15")
}

const sections = ".places a b .transitions t u .flows "

func net(t testing.TB, src string) *petri.Net {
	t.Helper()
	n, err := petri.ParseAPT("n.apt", src)
	require.NoError(t, err)
	return n
}

func TestAnalyses(t *testing.T) {
	t.Parallel()
	r := net(t, sections+"t: {a} -> {b} u: {b} -> {} .initial_marking {2*a}").Analyse(100)
	require.Equal(t, []string{"nothing"}, r.Dead)
	require.Equal(t, []string{"t", "u"}, r.NotLive)
	require.False(t, *r.Reversible)
	require.EqualValues(t, 2, r.Bound)
	require.Equal(t, 6, r.Markings)
	require.Empty(t, r.SFlows)

	r = net(t, sections+"t: {a} -> {2*b} u: {2*b} -> {a} .initial_marking {a}").Analyse(100)
	require.Equal(t, []string{"2*a + b"}, r.SFlows)
	require.Equal(t, []string{"t + u"}, r.TFlows)
	require.True(t, *r.Live)

	r = net(t, sections+"t: {a} -> {b} u: {b} -> {a} .initial_marking {200*a}").Analyse(100)
	require.Nil(t, r.Bounded)
	require.Nil(t, r.Live)
}

func TestErrorsSayWhere(t *testing.T) {
	t.Parallel()
	for src, says := range map[string]string{
		"":            "there are no .places",
		".places a a": "a is there already",
		".places a\n.transitions t\n.flows\nt: {b} -> {}":          "n.apt:4: b is no place",
		".places a .transitions t .flows t: {-1*a} -> {}":          "expected a number from 0",
		".places a .transitions t .flows t: {99999999999*a} -> {}": "expected a number from 0",
		".places a .transitions t .flows u: {} -> {}":              "u is no transition",
		".places a .transitions t .flows t: {a -> {}":              "expected , or }",
		".places a .transitions t .flows t: {a}":                   "expected ->, found the end of the file",
		".type SPN":                                                "only place/transition nets",
		".name x":                                                  "expected a name in quotes",
		"hello":                                                    "expected a section",
		strings.Repeat(" ", petri.MaxSource+1):                     "at most",
	} {
		_, err := petri.ParseAPT("n.apt", src)
		require.ErrorContains(t, err, says, "%.50s", src)
	}
}

// TestBoundedMeansThatTheGraphEnds holds the coverability graph against the
// reachability graph on random small nets.
func TestBoundedMeansThatTheGraphEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := &petri.Net{Places: []string{"a", "b", "c"}, Start: petri.Marking{1, 0, 1}}
		bag := rapid.MapOfN(rapid.IntRange(0, 2), rapid.Int64Range(1, 2), 0, 2)
		for i := range rapid.IntRange(1, 4).Draw(rt, "transitions") {
			n.Transitions = append(n.Transitions, petri.Transition{Name: fmt.Sprint("t", i), Take: bag.Draw(rt, "take"), Give: bag.Draw(rt, "give")})
		}
		r := n.Analyse(3000)
		if r.Bounded == nil {
			return
		}
		g := n.Reach(3000, nil)
		require.Equal(rt, *r.Bounded, g.Whole)
		if *r.Bounded {
			for _, e := range g.Edges {
				after, ok := g.Markings[e.From].Fire(&n.Transitions[e.Transition])
				require.True(rt, ok)
				require.Equal(rt, g.Markings[e.To], after)
			}
		}
	})
}

func FuzzParseAPT(f *testing.F) {
	src, err := os.ReadFile("../../examples/petri/index-flow.apt")
	require.NoError(f, err)
	f.Add(string(src))
	f.Add(sections + "t: {a} -> {2*b} u: {2*b} -> {a} .initial_marking {a}")
	f.Fuzz(func(_ *testing.T, src string) {
		if n, err := petri.ParseAPT("n.apt", src); err == nil && len(n.Places)+len(n.Transitions) < 20 {
			n.Analyse(100)
		}
	})
}

func Example() {
	n, err := petri.ParseAPT("n.apt", ".places a b .transitions t .flows t: {a} -> {a, b} .initial_marking {a}")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(n.Analyse(100).Unbounded)
	// Output: [b]
}
