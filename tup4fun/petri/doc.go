// Package petri parses Petri nets with places, transitions and weighted arcs, and
// decides their properties: boundedness, deadlocks, liveness, reversibility,
// coverability, the constant sums of tokens (place semiflows), and the firings that
// change nothing (transition semiflows).
//
// Parse reads the .apt format of the tool APT; ParsePNML reads PNML (ISO 15909-2,
// place/transition nets). Both report exact positions and are bounded in size.
//
// Boundedness, the bound of each place, coverability and transitions that never fire are
// decided for every net, by the graph of Karp and Miller (1969), where Omega stands for
// arbitrarily many tokens. If the net is bounded, this graph is the reachability graph
// and decides the other properties too: liveness and reversibility by its strongly
// connected components (Tarjan, 1972). If the net is unbounded, a property of all
// markings is refuted if a short firing sequence does so, proved if the bounded places
// suffice, and otherwise incomplete. It is also incomplete if a bound of Options is
// reached. Incomplete never stands for holds.
//
// Semiflows have minimal support and coprime weights; the algorithm is by Farkas (1902) in the
// version of Colom and Silva (1990).
//
// The package has no inhibitor arcs, priorities, colours or time. No input makes it
// panic. A Net is immutable after parsing and safe for concurrent use.
package petri
