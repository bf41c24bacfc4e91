package draw_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/petri"
)

// wellFormed returns the number of elements by name in an SVG.
func wellFormed(t *testing.T, svg string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			found[e.Name.Local]++
		}
	}
}

func trace(steps int, cycle int) *explore.Trace {
	t := &explore.Trace{Cycle: cycle, End: explore.Config{
		Processes: []explore.ProcConfig{{Name: "<P>", Next: []string{"S.get(1)"}}},
		Spaces:    []explore.SpaceConfig{{Name: "S"}},
	}}
	verbs := []string{"put", "get", "query"}
	for i := range steps {
		t.Steps = append(t.Steps, explore.Step{Process: "<P>", Actions: []explore.Action{
			{Text: "x < 1 & true"}, {Text: "op", Space: "S", Verb: verbs[i%3], Tuple: fmt.Sprintf("(%d)", i)},
		}})
	}
	return t
}

func TestASequenceHasAnArrowForEachTuple(t *testing.T) {
	t.Parallel()
	svg := draw.SequenceSVG(trace(3, -1))
	require.Equal(t, 2+3, wellFormed(t, svg)["line"], "two lanes, three arrows")
	require.Equal(t, 1, strings.Count(svg, `stroke-dasharray="4 3"`), "the query is dashed")
	require.Contains(t, svg, ">before S.get(1)<")
	require.Equal(t, 2+3+3+1, wellFormed(t, svg)["rect"], "two heads, and white behind each text")
	require.Contains(t, svg, "x &lt; 1 &amp; true")
}

func TestASequenceThatRepeatsOrIsLongSaysSo(t *testing.T) {
	t.Parallel()
	svg := draw.SequenceSVG(trace(3, 1))
	require.Contains(t, svg, "the steps from here repeat forever")
	require.NotContains(t, svg, "before ")
	svg = draw.SequenceSVG(trace(draw.MaxSteps+7, -1))
	require.Contains(t, svg, "7 more steps are not drawn")
	require.Equal(t, 2+draw.MaxSteps+1, wellFormed(t, svg)["line"])
}

func TestMarkingsSayWhereANetEnds(t *testing.T) {
	t.Parallel()
	n, err := petri.Parse("n", `.places a b c .transitions t u .flows t: {a} -> {b} u: {a} -> {2*c} .initial_marking {a} .final_markings {b}`)
	require.NoError(t, err)
	g := draw.Markings(petri.Reach(t.Context(), n, petri.Options{}))
	require.Equal(t, []draw.Node{{Label: "{a}", Mark: draw.Start}, {Label: "{b}", Mark: draw.Terminated}, {Label: "{2*c}", Mark: draw.Stuck}}, g.Nodes)
	require.Equal(t, []draw.Edge{{From: 0, To: 1, Label: "t"}, {From: 0, To: 2, Label: "u"}}, g.Edges)
	wellFormed(t, g.SVG())
}
