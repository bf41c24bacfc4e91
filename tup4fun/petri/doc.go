// Package petri reads place/transition nets in the format .apt, and analyses them:
// boundedness and coverability (Karp and Miller 1969), the reachability graph, dead
// markings, liveness, reversibility, and semiflows (Farkas' algorithm, as Martínez
// and Silva 1982 have it).
//
// Liveness and reversibility are questions about the reachability graph, so they
// are answered only where the net is bounded and the graph within the limit.
//
// All is bounded: a file (MaxSource), a net (MaxNodes), the graphs (a limit of the
// caller), the semiflows (MaxFlows).
package petri
