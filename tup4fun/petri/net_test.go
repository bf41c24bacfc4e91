package petri_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/petri"
)

func parse(t testing.TB, src string) *petri.Net {
	t.Helper()
	n, err := petri.Parse("n.apt", src)
	require.NoError(t, err)
	return n
}

func example(t *testing.T, name string) *petri.Net {
	t.Helper()
	src, err := os.ReadFile("../../examples/original/" + name)
	require.NoError(t, err)
	return parse(t, string(src))
}

// net builds a net from lines such as "t: {a} -> {b}", with the places and transitions
// that they name.
func net(t testing.TB, initial string, flows ...string) *petri.Net {
	t.Helper()
	var places, transitions []string
	seen := map[string]bool{}
	for _, f := range append(flows, "_: {} -> "+initial) {
		name, arcs, _ := strings.Cut(f, ":")
		if name != "_" {
			transitions = append(transitions, name)
		}
		for _, word := range strings.FieldsFunc(arcs, func(r rune) bool { return strings.ContainsRune("{}-> ,*0123456789", r) }) {
			if !seen[word] {
				seen[word] = true
				places = append(places, word)
			}
		}
	}
	return parse(t, fmt.Sprintf(".places %s\n.transitions %s\n.flows\n%s\n.initial_marking %s", strings.Join(places, " "),
		strings.Join(transitions, " "), strings.Join(flows, "\n"), initial))
}

func check(t testing.TB, n *petri.Net, q petri.Question) (*petri.Report, map[string]petri.Finding) {
	t.Helper()
	r := petri.Check(t.Context(), "n.apt", n, q)
	found := map[string]petri.Finding{}
	for _, f := range r.Findings {
		found[f.Property] = f
	}
	return r, found
}

// outcomes abbreviates the outcomes: + holds, - violated, ? incomplete.
func outcomes(fs map[string]petri.Finding, properties []string) string {
	signs := map[explore.Outcome]string{explore.Holds: "+", explore.Violated: "-", explore.Incomplete: "?"}
	var b strings.Builder
	for _, p := range properties {
		b.WriteString(signs[fs[p].Outcome])
	}
	return b.String()
}

func TestTheIndexFlowIsUnboundedAndLeavesTokensOver(t *testing.T) {
	t.Parallel()
	n := example(t, "index-flow.apt")
	final, err := petri.ParseMarking(n, "--final", "p0")
	require.NoError(t, err)
	n.Final = []petri.Marking{final}
	r, found := check(t, n, petri.Question{Options: petri.Options{Tokens: 6}})
	require.Equal(t, explore.Violated, r.Outcome)
	require.Equal(t, petri.Finding{Property: petri.Bounded, Outcome: explore.Violated, Detail: "no bound for p8", Marking: "{p4}",
		Firing: []string{"t17", "t16", "t1", "t3"}, Repeat: []string{"t5", "t9"}}, found[petri.Bounded])
	require.Equal(t, "of the 7 markings that cover a final one, 6 have tokens left over", found[petri.Proper].Detail)
	require.Equal(t, "{p0, p8}", found[petri.Proper].Marking)
	require.Equal(t, explore.Holds, found[petri.DeadlockFree].Outcome)
	require.Equal(t, explore.Incomplete, found[petri.Live].Outcome)
	require.Contains(t, r.Bounds, petri.PlaceBound{Place: "p8", Most: -1, Known: true})
	require.Contains(t, r.Bounds, petri.PlaceBound{Place: "p4", Most: 1, Known: true})
	require.Equal(t, "p0 + p2 + p4 + p6 + p10 + p12 + p15", r.PlaceSemiflows[0].Text)
	require.Len(t, r.PlaceSemiflows, 1)
	require.Len(t, r.TransitionSemiflows, 3)
}

func TestTheIndexFlowOfTheTextFailsInTheSameWay(t *testing.T) {
	t.Parallel()
	n := example(t, "index-flow-text.apt")
	final, err := petri.ParseMarking(n, "--final", "p0")
	require.NoError(t, err)
	n.Final = []petri.Marking{final}
	_, found := check(t, n, petri.Question{Options: petri.Options{Tokens: 6}})
	require.Equal(t, "no bound for p8, p18", found[petri.Bounded].Detail)
	require.Equal(t, "{p0, p18}", found[petri.Proper].Marking)
	require.Equal(t, explore.Holds, found[petri.DeadlockFree].Outcome)
}

func TestAWayOutOfEachPlaceIsNoProof(t *testing.T) {
	t.Parallel()
	n := example(t, "ways-out.apt")
	out := map[int]bool{}
	for _, transition := range n.Transitions {
		for _, a := range transition.In {
			out[a.Place] = true
		}
	}
	require.Len(t, out, len(n.Places))
	_, found := check(t, n, petri.Question{Properties: []string{petri.DeadlockFree}})
	require.Equal(t, explore.Violated, found[petri.DeadlockFree].Outcome)
	require.Equal(t, []string{"t1", "t3", "t7"}, found[petri.DeadlockFree].Firing)
}

func TestTheRepairedIndexFlowHolds(t *testing.T) {
	t.Parallel()
	r, found := check(t, example(t, "index-flow-repaired.apt"), petri.Question{})
	require.Equal(t, explore.Holds, r.Outcome, "%+v", r)
	require.Equal(t, 29, r.Markings)
	require.Equal(t, 47, r.Edges)
	require.Empty(t, r.Reason)
	require.Equal(t, "at most 3 tokens in a place", found[petri.Bounded].Detail)
	require.Equal(t, "+++++++", outcomes(found, append(petri.Usual, petri.Completes, petri.Proper)))
}

func TestWhatNetsCanDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, initial string
		flows         []string
		want          string // by petri.Properties
	}{
		{"a cycle", "{a}", []string{"t: {a} -> {b}", "u: {b} -> {a}"}, "++++++"},
		{"it ends", "{a}", []string{"t: {a} -> {b}"}, "++-+--"},
		{"two tokens", "{2*a}", []string{"t: {a} -> {b}", "u: {b} -> {a}"}, "+-++++"},
		{"no way back", "{a}", []string{"t: {a} -> {b}", "u: {b} -> {c}", "v: {c} -> {b}"}, "+++" + "+--"},
		{"one never fires", "{a}", []string{"t: {a} -> {a}", "u: {b} -> {a}"}, "+++--+"},
		{"a source", "{a}", []string{"t: {} -> {b}"}, "--++??"},
		{"a source of nothing", "{a}", []string{"t: {} -> {}"}, "++++++"},
		{"unbounded, and dead in the end", "{a}", []string{"t: {a} -> {a, b}", "u: {a} -> {c}"}, "---+--"},
		{"unbounded, dead only without b", "{a}", []string{"t: {a} -> {a, b}", "u: {a} -> {c}", "v: {c, b} -> {c}"}, "---+--"},
		{"no transition", "{a}", nil, "++-+++"},
		{"weights", "{3*a}", []string{"t: {2*a} -> {b}", "u: {b} -> {2*a}"}, "+-++++"},
		{"philosophers", "{f, g, x, y}", []string{"xf: {f, x} -> {h}", "xg: {h, g} -> {e}", "xe: {e} -> {f, g, x}",
			"yg: {g, y} -> {i}", "yf: {i, f} -> {d}", "ye: {d} -> {f, g, y}"}, "++-+--"},
	} {
		_, found := check(t, net(t, c.initial, c.flows...), petri.Question{Properties: petri.Properties, Options: petri.Options{Markings: 1000}})
		require.Equal(t, c.want, outcomes(found, petri.Properties), c.name)
	}
}

func TestCoverability(t *testing.T) {
	t.Parallel()
	n := net(t, "{a}", "t: {a} -> {b}", "u: {b} -> {a, 2*c}")
	for marking, want := range map[string]explore.Outcome{
		"{a, 1000000*c}": explore.Violated, "a, b": explore.Holds, "2*a": explore.Holds, "b, 7*c": explore.Violated,
	} {
		m, err := petri.ParseMarking(n, "--cover", marking)
		require.NoError(t, err)
		r, _ := check(t, n, petri.Question{Properties: []string{petri.QuasiLive}, Cover: []petri.Marking{m}, Options: petri.Options{Markings: 100}})
		require.Equal(t, want, r.Outcome, marking)
	}
}

func TestABoundThatIsReachedIsItsOwnVerdict(t *testing.T) {
	t.Parallel()
	n := net(t, "{500*a, 500*b}", "t: {a} -> {c}", "u: {c} -> {a}", "v: {b} -> {d}", "w: {d} -> {b}")
	for _, o := range []petri.Options{{Markings: 1000}, {Memory: 100_000}} {
		r, found := check(t, n, petri.Question{Options: o})
		require.Equal(t, explore.Incomplete, r.Outcome)
		require.Equal(t, "??+??", outcomes(found, petri.Usual))
		require.NotEmpty(t, r.Reason)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.Contains(t, petri.Check(ctx, "n", n, petri.Question{}).Reason, "interrupted")
}

func TestSemiflowsOfANetThatHasTooMany(t *testing.T) {
	t.Parallel()
	var flows []string // 2 to the power of 20 place semiflows
	for i := range 20 {
		letter := string(rune('a' + i))
		next := string(rune('a' + i + 1))
		flows = append(flows, fmt.Sprintf("t%d: {x%s, y%s} -> {x%s, y%s}", i, letter, letter, next, next))
	}
	n := net(t, "{xa, ya}", flows...)
	require.Equal(t, "there are more than 500 semiflows, or steps to them", petri.Check(t.Context(), "n", n, petri.Question{}).SemiflowsReason)
}

func TestSemiflowsOfALargeNetAreGivenUp(t *testing.T) {
	t.Parallel()
	n := &petri.Net{Places: make([]string, 1500), Initial: make(petri.Marking, 1500)}
	for i := range 5000 {
		n.Transitions = append(n.Transitions, petri.Transition{In: []petri.Arc{{Place: i % 1500, Weight: 1}}, Out: []petri.Arc{{Place: (i*7 + 1) % 1500, Weight: 1}}})
	}
	_, err := petri.PlaceSemiflows(t.Context(), n, petri.Options{})
	require.ErrorContains(t, err, "the net is too large for semiflows: 1500 times 6500 numbers")
}

// TestSemiflowsAreConstant compares semiflows with firings of the net.
func TestSemiflowsAreConstant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := randomNet(rt)
		g := petri.Reach(t.Context(), n, petri.Options{Markings: 200})
		places, err := petri.PlaceSemiflows(t.Context(), n, petri.Options{})
		require.NoError(rt, err)
		for _, s := range places {
			for i := range g.Len() {
				require.Equal(rt, weigh(s, n.Initial), weigh(s, g.Marking(i)))
			}
		}
		transitions, err := petri.TransitionSemiflows(t.Context(), n, petri.Options{})
		require.NoError(rt, err)
		for _, s := range transitions {
			require.Equal(rt, n.Initial, fireAll(n, s))
		}
	})
}

func weigh(s petri.Semiflow, m petri.Marking) (sum int64) {
	for p, w := range s {
		sum += w * m[p]
	}
	return sum
}

// fireAll computes the effect of s[t] firings of each transition t, enabled or not.
func fireAll(n *petri.Net, s petri.Semiflow) petri.Marking {
	m := append(petri.Marking{}, n.Initial...)
	for t, times := range s {
		for _, a := range n.Transitions[t].In {
			m[a.Place] -= times * a.Weight
		}
		for _, a := range n.Transitions[t].Out {
			m[a.Place] += times * a.Weight
		}
	}
	return m
}

func randomNet(rt *rapid.T) *petri.Net {
	n := &petri.Net{Places: []string{"a", "b", "c", "d"}}
	tokens := rapid.SliceOfN(rapid.Int64Range(0, 2), 4, 4)
	arcs := func(what string) (all []petri.Arc) {
		for p, w := range tokens.Draw(rt, what) {
			if w > 0 {
				all = append(all, petri.Arc{Place: p, Weight: w})
			}
		}
		return all
	}
	n.Initial = tokens.Draw(rt, "initial")
	for i := range rapid.IntRange(1, 4).Draw(rt, "transitions") {
		n.Transitions = append(n.Transitions, petri.Transition{Name: fmt.Sprint("t", i), In: arcs("in"), Out: arcs("out")})
	}
	return n
}

// TestTheCoverabilityGraphCoversWhatIsReached: each reachable marking is covered, and the
// graphs of a bounded net are equal.
func TestTheCoverabilityGraphCoversWhatIsReached(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := randomNet(rt)
		cover := petri.Cover(t.Context(), n, petri.Options{Markings: 2000})
		if cover.Reason != "" {
			return
		}
		reach := petri.Reach(t.Context(), n, petri.Options{Markings: 300})
		for i := range reach.Len() {
			require.GreaterOrEqual(rt, cover.Covering(reach.Marking(i)), 0)
		}
		_, found := check(t, n, petri.Question{Properties: []string{petri.Bounded}, Options: petri.Options{Markings: 2000}})
		if found[petri.Bounded].Outcome == explore.Holds {
			whole := petri.Reach(t.Context(), n, petri.Options{Markings: 2000})
			require.Equal(rt, whole.Len(), cover.Len())
			require.Equal(rt, whole.Firings(), cover.Firings())
			return
		}
		f := found[petri.Bounded]
		before := fire(rt, n, n.Initial, f.Firing)
		after := fire(rt, n, fire(rt, n, before, f.Repeat), f.Repeat)
		require.True(rt, after.Covers(before))
		require.NotEqual(rt, before, after)
	})
}

// fire fires transitions by name; each must be enabled.
func fire(rt *rapid.T, n *petri.Net, m petri.Marking, names []string) petri.Marking {
	for _, name := range names {
		for i := range n.Transitions {
			if t := &n.Transitions[i]; t.Name == name {
				require.True(rt, t.Enabled(m))
				m = t.Fire(m)
			}
		}
	}
	return m
}

func TestAReportIsJSON(t *testing.T) {
	t.Parallel()
	r, _ := check(t, example(t, "index-flow-repaired.apt"), petri.Question{})
	_, err := json.Marshal(r)
	require.NoError(t, err)
}
