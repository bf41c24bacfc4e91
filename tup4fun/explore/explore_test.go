package explore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/syntax"
)

func model(t testing.TB, src string, capacity int) *Model {
	t.Helper()
	p, err := syntax.Parse("m", src)
	require.NoError(t, err)
	m, err := Compile(p, capacity)
	require.NoError(t, err)
	return m
}

const slimStart = `IndexSpace = (R, INF, {}), TaskSpace = (R,INF, {}), r=0, res=0, id=0, task=0, flowsLeft=3, tasksLeft=12
---
`
const slim = `par
   IndexSpace.put(0);
   IndexSpace.put(1);
   IndexSpace.put(2)
[]
   loop flowsLeft > 0 -> flowsLeft := flowsLeft - 1;
                IndexSpace.get(?r);
                TaskSpace.put(1, 1, 1, r, 0, 0);
                TaskSpace.get(1, 2, 1, r, 0);
                TaskSpace.put(1, 1, 2, r, 0, 0);
                TaskSpace.get(1, 2, 2, r, 0);
                TaskSpace.put(1, 1, 3, r, 0, 0);
                TaskSpace.get(1, 2, 3, r, 0);
                TaskSpace.put(1, 1, 4, r, 0, 0);
                TaskSpace.get(1, 2, 4, r, 0)
   pool
[]
   loop tasksLeft > 0 -> tasksLeft := tasksLeft -1;
                TaskSpace.get(?id, 1, ?task, ?res, 0, 0);
                TaskSpace.put(id, 2, task, res, 0)
   pool
rap
`

// big is the larger model of the benchmark.
func big(managers, workers int, local bool) string {
	var b strings.Builder
	b.WriteString("IndexSpace = (R, INF, {}), TaskSpace = (R, INF, {})")
	if !local {
		b.WriteString(", r=0, res=0, id=0, task=0")
	}
	b.WriteString("\n---\npar loop true -> IndexSpace.put(0); IndexSpace.put(1); IndexSpace.put(2) pool\n")
	own := func(names string) string {
		if local {
			return "var " + names + "; "
		}
		return ""
	}
	for m := range managers {
		fmt.Fprintf(&b, "[] %sloop true -> IndexSpace.get(?r)", own("r"))
		for task := range 4 {
			fmt.Fprintf(&b, "; TaskSpace.put(%d, 1, %d, r, 0, 0); TaskSpace.get(%d, 2, %d, r, 0)", m+1, task+1, m+1, task+1)
		}
		b.WriteString(" pool\n")
	}
	for range workers {
		fmt.Fprintf(&b, "[] %sloop true -> TaskSpace.get(?id, 1, ?task, ?r, 0, 0); TaskSpace.put(id, 2, task, r, 0) pool\n", own("id, task, r"))
	}
	return b.String() + "rap\n"
}

func TestTheVectorsAreExact(t *testing.T) {
	t.Parallel()
	do := strings.NewReplacer("loop", "do", "pool", "od").Replace(slim)
	for _, c := range []struct {
		name, src string
		r         Reduction
		want      counts
	}{
		{"slim", slimStart + slim, Reduction{}, counts{states: 857, transitions: 1512, stuck: 3}},
		{"slim, do", slimStart + do, Reduction{}, counts{states: 869, transitions: 1530, terminated: 3}},
		{"big, m1 w1", big(1, 1, false), Reduction{}, counts{states: 4680, transitions: 9806}},
		{"big, m1 w2", big(1, 2, false), Reduction{}, counts{states: 10512, transitions: 28060}},
		{"big, m2 w1", big(2, 1, false), Reduction{}, counts{states: 354272, transitions: 921020}},
		{"big, local, m1 w1", big(1, 1, true), Reduction{}, counts{states: 5384, transitions: 11222}},
		{"big, local, m1 w5, reduced", big(1, 5, true), Reduction{Dead: true, Symmetry: true}, counts{states: 14016, transitions: 63480}},
		{"big, local, m2 w5, reduced", big(2, 5, true), Reduction{Dead: true, Symmetry: true}, counts{states: 748032, transitions: 4300464}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSearch(model(t, c.src, 3), Options{Reduction: c.r}.withDefaults())
			s.run(t.Context(), toTheEnd)
			if c.want != s.total {
				t.Error(c.name, s.total, c.want)
			}
			t.Log(s.total, s.most, s.store.bytes()/s.total.states, s.tables.bytes()/s.total.states)
		})
	}
}

func TestTheFirstLevelsAndTheStatesOfRuns(t *testing.T) {
	t.Parallel()
	m := model(t, "x = 0, S = (R, 1, {})\n---\npar loop x < 40 -> x := x + 1 pool [] do x > 1 -> x := x - 1 od rap", 0)
	whole, reason := Build(t.Context(), m, Options{})
	require.Empty(t, reason)
	for _, most := range []int{1, 7, 50, whole.Len() - 1, whole.Len()} {
		g, _ := BuildPart(t.Context(), m, Part{Most: most})
		require.LessOrEqual(t, g.Len(), most)
		require.Equal(t, most == whole.Len(), g.Expanded(g.Len()-1), "%d states", most)
	}

	ways := whole.Ways()
	last := whole.Len() - 1
	run := RunTo(ways, last)
	require.Greater(t, len(run), 20)
	r := NewRun(m)
	for _, choice := range run {
		require.True(t, r.Take(choice))
	}
	require.Equal(t, whole.Config(last), r.Trace().End)

	g, runs := BuildPart(t.Context(), m, Part{Most: 7, Runs: [][]int{run, {9}}, Total: 1000})
	require.Len(t, runs[0], len(run)+1)
	require.Equal(t, whole.Config(last), g.Config(runs[0][len(run)]))
	require.Equal(t, []int{0}, runs[1], "there is no step 9")
	g, runs = BuildPart(t.Context(), m, Part{Most: 7, Runs: [][]int{run}, Total: 10})
	require.Less(t, len(runs[0]), len(run))
	require.Less(t, g.Len(), 14)
}

func TestAStuckStateThatIsFoundIsCounted(t *testing.T) {
	t.Parallel()
	m := model(t, "x = 0, S = (R, 1, {})\n---\nif true -> S.get(1) [] true -> loop true -> x := x + 1 pool fi\n---\ndeadlockfree;", 0)
	r := Check(t.Context(), m, Options{States: 3, Cores: 1})
	require.Equal(t, Violated, r.Outcome)
	require.NotEmpty(t, r.Reason)
	require.EqualValues(t, 1, r.Stuck)
}
