package draw_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

var update = flag.Bool("update", false, "write the golden files")

const philosophers = `const N = 2, Fork = (R, N, {(1), (2)}), meals = 0
---
par N * proc Phil(i) =
   loop true -> Fork.get(i); Fork.get(i % N + 1); atomic { meals := (meals + 1) % 2; Fork.put(i) }; Fork.put(i % N + 1) pool
rap
`

func model(t testing.TB, src string) *explore.Model {
	t.Helper()
	p, err := syntax.Parse("phil.tup", src)
	require.NoError(t, err)
	m, err := explore.Compile(p, 0)
	require.NoError(t, err)
	return m
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, name)
}

func TestDrawings(t *testing.T) {
	t.Parallel()
	m := model(t, philosophers)
	r := explore.Check(t.Context(), m, explore.Options{Cores: 1})
	trace := r.Verdicts[0].Trace
	golden(t, "trace.txt", draw.Text(trace))
	golden(t, "trace.mermaid", draw.Sequence(trace))
	g := draw.Program(m)
	golden(t, "program.dot", g.DOT())
	golden(t, "program.mermaid", g.Mermaid())
	golden(t, "program.svg", g.SVG())
	states, cut := explore.Build(t.Context(), m, explore.Options{})
	require.Empty(t, cut)
	golden(t, "states.dot", draw.States(states, "phil").DOT())
	golden(t, "trace.dot", draw.Steps(trace, "phil").DOT())
	for _, g := range []draw.Graph{g, draw.States(states, "phil"), draw.Steps(trace, "phil"), {}} {
		wellFormed(t, g.SVG())
	}
}

func TestLabelsOfAStateGraphDoNotCoverEachOther(t *testing.T) {
	t.Parallel()
	m := model(t, strings.Replace(philosophers, "atomic { meals := (meals + 1) % 2; Fork.put(i) }", "Fork.put(i)", 1))
	states, cut := explore.Build(t.Context(), m, explore.Options{Reduction: explore.Reduction{Dead: true}})
	require.Empty(t, cut)
	_, labels, _ := strings.Cut(draw.States(states, "phil").SVG(), "<g ")
	type label struct{ x, y, half float64 }
	var all []label
	for _, m := range regexp.MustCompile(`<text x="(.+?)" y="(.+?)" text-anchor="middle">(.+)</text>`).FindAllStringSubmatch(labels, -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err)
		y, err := strconv.ParseFloat(m[2], 64)
		require.NoError(t, err)
		all = append(all, label{x, y, 3.5 * float64(len(m[3]))})
	}
	require.Greater(t, len(all), 20)
	for i, a := range all {
		for _, b := range all[:i] {
			require.False(t, math.Abs(a.x-b.x) < a.half+b.half && math.Abs(a.y-b.y) < 12, "%v covers %v", a, b)
		}
	}
}

func TestARunThatRepeatsIsDrawnAsALoop(t *testing.T) {
	t.Parallel()
	m := model(t, "x = 0\n---\nx := 1; loop true -> x := 2; x := 1 pool\n---\neventually e: x = 3;")
	r := explore.Check(t.Context(), m, explore.Options{})
	trace := r.Verdicts[0].Trace
	require.NotNil(t, trace)
	require.Contains(t, draw.Text(trace), "-- the steps from here repeat forever --")
	require.Contains(t, draw.Sequence(trace), "loop forever")
	g := draw.Steps(trace, "loop")
	require.Equal(t, trace.Cycle, g.Edges[len(g.Edges)-1].To)
	wellFormed(t, g.SVG())
}

func TestWhatAModelSaysIsNeverMarkup(t *testing.T) {
	t.Parallel()
	evil := `<script>alert("x")</script>;]--> "` + "\n\\"
	g := draw.Graph{Title: evil, Nodes: []draw.Node{{Label: evil}, {Label: "b"}}, Edges: []draw.Edge{{From: 0, To: 1, Label: evil}}}
	wellFormed(t, g.SVG())
	require.NotContains(t, g.SVG(), "<script>")
	require.NotContains(t, g.Mermaid(), "<script>")
	require.Contains(t, g.DOT(), `\"x\"`)
	_, err := g.Print("png")
	require.ErrorContains(t, err, `unknown format "png"; use one of dot`)
}

func Example() {
	p, err := syntax.Parse("m", "S = (R, 1, {})\n---\npar proc A = S.put(1) [] proc B = S.get(1); S.get(2) rap")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := explore.Compile(p, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := explore.NewRun(m)
	for r.Take(0) {
	}
	fmt.Print(draw.Text(r.Trace()))
	// Output:
	//    1  A  S.put(1)  (line 3)
	//    2  B  S.get(1)  (line 3)
	//       A has terminated
	//       B is at line 3, before S.get(2)
	//       S has nothing
}
