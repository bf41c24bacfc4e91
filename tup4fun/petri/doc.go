// Package petri reads Petri nets with places, transitions and weighted arcs, and
// says what they can do: whether they are bounded, can get stuck, are live and
// reversible, what can be covered, which sums of tokens are constant (place
// semiflows), and which firings change nothing (transition semiflows).
//
// Parse reads the .apt format of the tool APT; ParsePNML reads PNML (ISO 15909-2,
// place/transition nets). Both give exact positions, and are bounded in size.
//
// Boundedness, the bound of each place, coverability and transitions that never
// fire are decided for every net, by the graph of Karp and Miller (1969), where
// Omega stands for as many tokens as one likes. If the net is bounded this graph is
// the reachability graph, and decides the rest too: liveness and reversibility by
// its strongly connected components (Tarjan, 1972). If the net is unbounded, what
// its markings can do is refuted where a short firing sequence does, and proved
// where the places that are bounded suffice; else it is incomplete, as it is when
// a bound of Options is reached. Incomplete never stands for holds.
//
// Semiflows are those of minimal support with coprime weights, by the algorithm of
// Farkas (1902) as Colom and Silva (1990) have it.
//
// Not here: inhibitor arcs, priorities, colours and time. Nothing here panics on
// what was read; a Net does not change once it was read, and may be used
// concurrently.
package petri
