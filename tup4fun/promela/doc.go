// Package promela exports a model in the language of Spin (Holzmann), so that both tools
// can be compared: Spin without its reductions (spin -o1 -o2 -a, cc -DNOREDUCE -DSAFETY)
// counts the same states and transitions, except for those of the init process, which
// fills the spaces and starts the others (ExtraStates, ExtraTransitions).
//
// A space is a table with as many rows as it ever has tuples, which must be known (see
// Seen); a random space is kept sorted. A process is its program graph, with a label for
// each node, which begins with end only where the process may wait forever. Properties are
// claims over variables that each step sets at its end. A model or property that Spin decides
// differently is refused: one with errors at run time, or under weakfair.
package promela
