package explore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomProgram returns a program of two or three small processes. Some of its steps fail, some wait for ever, some are
// timeouts, and some copies of a process are equal.
func randomProgram(r *rand.Rand) string {
	space := func() string { return string("ST"[r.IntN(2)]) }
	statement := func() string {
		return []string{
			fmt.Sprintf("%s.put(%d)", space(), r.IntN(2)), fmt.Sprintf("%s.get(?x)", space()), fmt.Sprintf("%s.get(%d)", space(), r.IntN(2)),
			fmt.Sprintf("x := %d", r.IntN(3)), "x := (x + 1) % 3", "y := 1 - y", "y := 2 / x", fmt.Sprintf("%s.query(?y)", space()),
			fmt.Sprintf("atomic { %s.put(y); y := 1 }", space()),
			fmt.Sprintf("if x > 0 -> y := 0 [] %s.get(1) -> skip [] timeout -> %s.put(0) fi", space(), space()),
		}[r.IntN(10)]
	}
	var procs []string
	for range 2 + r.IntN(2) {
		var body []string
		for range 1 + r.IntN(3) {
			body = append(body, statement())
		}
		text := strings.Join(body, "; ")
		switch r.IntN(4) {
		case 0:
		case 1:
			text = "2 * proc P" + fmt.Sprint(len(procs)) + " = " + text
		default:
			text = fmt.Sprintf("loop y < %d -> %s pool", 1+r.IntN(2), text)
		}
		procs = append(procs, text)
	}
	return "S = (R, 2, {(0)}), T = (Q, 2, {}), x = 0, y = 0\n---\npar " + strings.Join(procs, "\n[] ") + " rap\n"
}

// node is a state of a graph, with the steps from it and the states that they lead to.
type node struct {
	config Config
	steps  []Step
	to     []int
}

// reference explores a graph one step after the other, without a cache, and returns its states and edges.
func reference(m *Model, r Reduction) (all []node) {
	x := newExpander(m, newTables(), r)
	states, known := [][]uint32{x.initial()}, map[string]int{fmt.Sprint(x.initial()): 0}
	for i := 0; i < len(states); i++ {
		n := node{config: x.config(states[i])}
		steps, _ := x.allSteps(states[i])
		for _, st := range steps {
			x.makeCanonical(st.next)
			key := fmt.Sprint(st.next)
			if _, ok := known[key]; !ok {
				known[key] = len(states)
				states = append(states, st.next)
			}
			n.steps, n.to = append(n.steps, st.step), append(n.to, known[key])
		}
		all = append(all, n)
	}
	return all
}

// described returns a graph as reference does.
func described(g *Graph) (all []node) {
	for i := range g.Len() {
		n := node{config: g.Config(i)}
		g.Each(i, func(st Step, to int) { n.steps, n.to = append(n.steps, st), append(n.to, to) })
		all = append(all, n)
	}
	return all
}

func TestAGraphIsTheSameForAnyNumberOfCores(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 6))
	programs := []string{
		fmt.Sprintf("S = (R, 1, {}), x = 0\n---\npar loop x < %d -> x := x + 1 pool [] if timeout -> S.put(1) fi rap", roundStates+roundStates/32),
		"A = (R, 1, {}), B = (R, 1, {}), C = (R, 1, {}), D = (R, 1, {}), E = (R, 1, {}), x = 0\n---\npar atomic { A.put(1); B.put(1); C.put(1); D.put(1); E.put(1); x := 1 } [] loop x < 3 -> x := x + 1 pool rap",
		big(1, 2, false),
	}
	for range 25 {
		programs = append(programs, randomProgram(r))
	}
	most := 0
	for _, src := range programs {
		m := model(t, src, 3)
		for _, reduction := range []Reduction{{}, {Dead: true}} {
			want := reference(m, reduction)
			for _, cores := range []int{1, 3} {
				g, reason := Build(t.Context(), m, Options{Cores: cores, Reduction: reduction})
				require.Empty(t, reason)
				require.Equal(t, want, described(g), src)
			}
			most = max(most, len(want))
		}
	}
	require.Greater(t, most, roundStates, "some graph takes several rounds")
}

func TestAGraphEndsAfterTheStateThatExceedsTheBound(t *testing.T) {
	t.Parallel()
	m := model(t, big(1, 2, false), 3)
	want := reference(m, Reduction{})
	for _, most := range []int64{1, 2, 300, 5000} {
		g, reason := Build(t.Context(), m, Options{Cores: 2, States: most})
		require.Equal(t, fmt.Sprintf("there are more than %d states", most), reason)
		got, last := described(g), 0
		for i := range got {
			if g.Expanded(i) {
				require.Equal(t, want[i], got[i])
				require.LessOrEqual(t, i, last+1)
				last = i
			}
		}
		before := 1 // the states that the states before the last one led to
		for i := range last {
			g.Each(i, func(_ Step, to int) { before = max(before, to+1) })
		}
		require.LessOrEqual(t, before, int(most))
		require.Greater(t, g.Len(), int(most))
	}
}

// TestRunsAreFoundIfAndOnlyIfThereAreSome compares the search in the product with one that tries, for each node, whether
// it leads back to itself through nodes of all sets.
func TestRunsAreFoundIfAndOnlyIfThereAreSome(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 1))
	formulas := []string{
		"[] <> get(S, _)", "<> [] (x > 0)", "[] (put(S, (1)) -> <> get(S, _))", "(x < 2) U (y = 1)", "<> (x = 2) & [] <> (y = 0)", "[] <> put(T, _) | <> [] (x = 1)",
		"[] (count(S) > 0 -> <> (count(S) = 0))", "[] (get(S, (x)) -> <> (y = 1))", "(y = 0) W (x = 1)",
	}
	found, none := 0, 0
	for range 20 {
		src := randomProgram(r)
		for _, f := range formulas {
			fair := r.IntN(2) == 0
			m := model(t, src+"---\nltl p: "+f+";", 3)
			s := newSearch(m, Options{}.withDefaults())
			g, reason := Build(t.Context(), m, Options{})
			require.Empty(t, reason)
			for _, i := range s.instances(&m.props[0]) {
				trace, err := g.findRun(i.fs, i.negated, fair)
				require.NoError(t, err)
				b, err := i.fs.automaton(i.negated)
				require.NoError(t, err)
				want := hasRun(g, b, i.fs, fair)
				require.Equal(t, want, trace != nil, "%s %s fair %v", src, f, fair)
				if want {
					found++
				} else {
					none++
				}
			}
		}
	}
	require.Greater(t, found, 50)
	require.Greater(t, none, 50)
}

// hasRun reports whether the product of a graph and an automaton has an accepted run.
func hasRun(g *Graph, b *buchi, fs *formulas, fair bool) bool {
	type node struct{ state, q int32 }
	letter := func(e graphEdge) uint64 {
		f := g.expander.propertyFrame(g.state(int(e.to)))
		return fs.stateAtoms(f) | fs.eventAtoms(f, g.events[e.label])
	}
	next := func(n node) (all []node, procs []int32) {
		for _, e := range g.edges[n.state] {
			for _, q := range b.nodes[n.q].next {
				if b.nodes[q].reads(letter(e)) {
					all, procs = append(all, node{e.to, q}), append(procs, e.proc)
				}
			}
		}
		if len(g.edges[n.state]) == 0 {
			for _, q := range b.nodes[n.q].next {
				if b.nodes[q].reads(fs.stateAtoms(g.expander.propertyFrame(g.state(int(n.state))))) {
					all, procs = append(all, node{n.state, q}), append(procs, -1)
				}
			}
		}
		return all, procs
	}
	reach := func(from ...node) map[node]bool {
		known := map[node]bool{}
		for len(from) > 0 {
			n := from[0]
			from = from[1:]
			if !known[n] {
				known[n] = true
				all, _ := next(n)
				from = append(from, all...)
			}
		}
		return known
	}
	var start []node
	for _, q := range b.start {
		if b.nodes[q].reads(fs.stateAtoms(g.expander.propertyFrame(g.state(0)))) {
			start = append(start, node{0, q})
		}
	}
	whole := reach(start...)
	leads := map[node]map[node]bool{}
	for n := range whole {
		leads[n] = reach(n)
	}
	for n := range whole {
		var sets uint64
		moved, fairly := false, map[int32]bool{}
		for other := range leads[n] {
			if !leads[other][n] {
				continue
			}
			sets |= b.nodes[other.q].sets
			all, procs := next(other)
			for k, to := range all {
				if leads[to][n] {
					moved, fairly[procs[k]] = true, true
				}
			}
			for p := range g.model.Procs {
				if !slices.ContainsFunc(g.edges[other.state], func(e graphEdge) bool { return e.proc == int32(p) }) {
					fairly[int32(p)] = true
				}
			}
		}
		unfair := slices.ContainsFunc(g.model.Procs, func(p Proc) bool {
			return !fairly[int32(slices.IndexFunc(g.model.Procs, func(o Proc) bool { return o.Name == p.Name }))]
		})
		if moved && sets == 1<<b.sets-1 && !(fair && unfair) {
			return true
		}
	}
	return false
}
