package draw

import (
	"fmt"
	"slices"
	"strings"
)

// DOT prints the graph for Graphviz. Node i has the name n and i, because labels need not differ.
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

// dot quotes s for DOT, where only quotes and backslashes are special.
func dot(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// Mermaid prints the graph as a Mermaid flow chart. Node i has the name n and i, because labels
// need not differ.
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

// SVG draws the graph: first the edges, then the nodes, and last the labels of the edges, which
// lie on top of everything.
func (g Graph) SVG() string {
	boxes, width, height := g.layout()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" font-family="monospace" font-size="12">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(g.Title))
	b.WriteString(`<defs><marker id="arrow" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 10 5 0 10z"/></marker></defs>` + "\n")
	var labels strings.Builder
	placed := placer{slices.Clone(boxes)}
	for i, e := range g.Edges {
		path, label := drawEdge(boxes[e.From], boxes[e.To], e, i, &placed)
		b.WriteString(path)
		labels.WriteString(label)
	}
	for i, n := range g.Nodes {
		c := boxes[i]
		fmt.Fprintf(&b, `<rect x="%g" y="%g" width="%g" height="%g" rx="6" fill="white" stroke="%s" stroke-width="%s"/>`+"\n",
			c.x, c.y, c.w, c.h, colours[n.Mark], map[bool]string{true: "3", false: "1"}[n.Mark != Plain])
		for k, line := range strings.Split(n.Label, "\n") {
			fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">%s</text>`+"\n", c.x+c.w/2, c.y+float64(lineHeight*(k+1)), escape(line))
		}
	}
	b.WriteString(`<g fill="#333" stroke="white" stroke-width="4" paint-order="stroke">` + "\n" + labels.String() + "</g>\n</svg>\n")
	return b.String()
}

var colours = map[Mark]string{Plain: "#555", Start: "#05c", Terminated: "#080", Stuck: "#c00"}

// drawEdge draws an edge: a curve downwards, or around the side if it leads upwards or to
// its own node. i is the number of the edge; it keeps curves around one side apart. The
// label is to be drawn after all edges, at the place that placed finds.
func drawEdge(from, to box, e Edge, i int, placed *placer) (path, label string) {
	c := curve{{from.x + from.w/2, from.y + from.h}, {from.x + from.w/2, from.y + from.h + layerGap/2},
		{to.x + to.w/2, to.y - layerGap/2}, {to.x + to.w/2, to.y}}
	if c[3].y <= c[0].y {
		side := max(from.x+from.w, to.x+to.w) + nodeGap + float64(i%4)*6 // four curves side by side
		c = curve{{from.x + from.w, from.y + from.h/2}, {side, from.y + from.h/2}, {side, to.y + to.h/2}, {to.x + to.w, to.y + to.h/2}}
	}
	path = fmt.Sprintf(`<path d="M%g %gC%g %g %g %g %g %g" fill="none" stroke="#555" marker-end="url(#arrow)"/>`+"\n",
		c[0].x, c[0].y, c[1].x, c[1].y, c[2].x, c[2].y, c[3].x, c[3].y)
	at := placed.place(c, e.Label)
	label = fmt.Sprintf(`<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", at.x, at.y+4, escape(e.Label))
	return path, label
}

type point struct{ x, y float64 }

// curve is a cubic Bézier curve.
type curve [4]point

// at returns the point of the curve, a Bézier curve of four points, at t, from 0 to 1.
func (c curve) at(t float64) point {
	u := 1 - t
	w := [4]float64{u * u * u, 3 * u * u * t, 3 * u * t * t, t * t * t}
	var p point
	for i, q := range c {
		p.x += w[i] * q.x
		p.y += w[i] * q.y
	}
	return p
}

// escape returns s as the text of an XML element or attribute. Control characters, which XML does
// not allow, become spaces.
func escape(s string) string {
	s = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

// Formats are the formats of Print, and json.
var Formats = []string{"dot", "svg", "mermaid", "json"}

// Print prints the graph in one of Formats except json, which the caller encodes. The error is
// for another format.
func (g Graph) Print(format string) (string, error) {
	switch format {
	case "dot":
		return g.DOT(), nil
	case "svg":
		return g.SVG(), nil
	case "mermaid":
		return g.Mermaid(), nil
	}
	return "", fmt.Errorf("unknown format %q; use one of %s", format, strings.Join(Formats, ", "))
}
