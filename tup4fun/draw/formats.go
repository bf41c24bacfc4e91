package draw

import (
	"fmt"
	"strconv"
	"strings"
)

// DOT prints the graph for Graphviz.
func (g Graph) DOT() string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  node [shape=box, style=rounded];\n", dot(g.Title))
	for i, n := range g.Nodes {
		fmt.Fprintf(&b, "  n%d [label=%s%s];\n", i, dot(n.Label), dotMarks[n.Mark])
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "  n%d -> n%d [label=%s];\n", e.From, e.To, dot(e.Label))
	}
	b.WriteString("}\n")
	return b.String()
}

var dotMarks = map[Mark]string{Start: ", penwidth=2", Terminated: ", peripheries=2", Stuck: ", color=red"}

// dot quotes s as DOT wants it, where only quotes and backslashes are special.
func dot(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// Mermaid prints the graph as a Mermaid flow chart.
func (g Graph) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for i, n := range g.Nodes {
		fmt.Fprintf(&b, "    n%d[\"%s\"]%s\n", i, mermaid(n.Label), map[Mark]string{Start: ":::start", Terminated: ":::terminated", Stuck: ":::stuck"}[n.Mark])
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "    n%d -->|\"%s\"| n%d\n", e.From, mermaid(e.Label), e.To)
	}
	b.WriteString("    classDef start stroke-width:3px\n    classDef terminated stroke:#080\n    classDef stuck stroke:#c00\n")
	return b.String()
}

// The sizes of a drawing, in pixels.
const (
	lineHeight  = 16
	letterWidth = 7
	layerGap    = 70
	nodeGap     = 30
	margin      = 20
)

type box struct{ x, y, w, h float64 }

// SVG draws the graph.
func (g Graph) SVG() string {
	boxes, width, height := g.layout()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" font-family="monospace" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(g.Title))
	b.WriteString(`<defs><marker id="arrow" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 10 5 0 10z"/></marker></defs>` + "\n")
	for i, e := range g.Edges {
		b.WriteString(edgePath(boxes[e.From], boxes[e.To], e, i))
	}
	for i, n := range g.Nodes {
		c := boxes[i]
		fmt.Fprintf(&b, `<rect x="%g" y="%g" width="%g" height="%g" rx="6" fill="white" stroke="%s" stroke-width="%s"/>`+"\n",
			c.x, c.y, c.w, c.h, colours[n.Mark], map[bool]string{true: "3", false: "1"}[n.Mark != Plain])
		for k, line := range strings.Split(n.Label, "\n") {
			fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">%s</text>`+"\n", c.x+c.w/2, c.y+float64(lineHeight*(k+1)), escape(line))
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

var colours = map[Mark]string{Plain: "#555", Start: "#05c", Terminated: "#080", Stuck: "#c00"}

// edgePath draws an edge: down in a curve, and up or to itself around the side.
func edgePath(from, to box, e Edge, i int) string {
	x1, y1, x2, y2 := from.x+from.w/2, from.y+from.h, to.x+to.w/2, to.y
	path := fmt.Sprintf("M%g %gC%g %g %g %g %g %g", x1, y1, x1, y1+layerGap/2, x2, y2-layerGap/2, x2, y2)
	tx, ty := (x1+x2)/2, (y1+y2)/2
	if y2 <= y1 {
		x1, y1, x2, y2 = from.x+from.w, from.y+from.h/2, to.x+to.w, to.y+to.h/2
		side := max(x1, x2) + nodeGap + float64(i%4)*6
		path = fmt.Sprintf("M%g %gC%g %g %g %g %g %g", x1, y1, side, y1, side, y2, x2, y2)
		tx, ty = side, (y1+y2)/2
	}
	return fmt.Sprintf(`<path d="%s" fill="none" stroke="#555" marker-end="url(#arrow)"/><text x="%g" y="%g" text-anchor="middle" fill="#333">%s</text>`+"\n", path, tx, ty, escape(e.Label))
}

func escape(s string) string {
	s = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// Formats are the names that Print knows.
var Formats = []string{"dot", "svg", "mermaid", "json"}

// Print prints the graph in one of Formats but json, which is left to the caller.
func (g Graph) Print(format string) (string, error) {
	switch format {
	case "dot":
		return g.DOT(), nil
	case "svg":
		return g.SVG(), nil
	case "mermaid":
		return g.Mermaid(), nil
	}
	return "", fmt.Errorf("%s is none of %s", strconv.Quote(format), strings.Join(Formats, ", "))
}
