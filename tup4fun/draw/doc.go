// Package draw prints what package explore finds, for people: program graphs and
// state graphs as DOT, SVG, Mermaid or JSON, and traces as text, as a Mermaid
// sequence diagram, or as a graph.
//
// SVG is drawn here, layer by layer from the start (after Sugiyama, 1981, with one
// pass of barycentres): no other program is needed. It is meant for up to a few
// hundred nodes; MaxNodes bounds what is drawn at all.
package draw
