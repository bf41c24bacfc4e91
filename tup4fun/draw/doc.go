// Package draw prints the results of package explore for people: program graphs and
// state graphs as DOT, SVG, Mermaid or JSON, and traces as text, as a sequence diagram,
// or as a graph.
//
// The package draws SVG itself, layer by layer from the start (after Sugiyama, 1981, with
// one pass of barycentres), so that no other program is needed. The result is readable
// for up to a few hundred nodes; MaxNodes bounds what is drawn.
package draw
