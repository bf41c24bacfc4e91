// Package promela writes a model in the language of Spin (Holzmann), so that the
// two can be held against each other: Spin, without its reductions (spin -o1 -o2 -a,
// cc -DNOREDUCE -DSAFETY), finds as many
// states and transitions, but for those of the first step, in which a process init
// fills the spaces and starts the others (ExtraStates, ExtraTransitions).
//
// A space is a table of as many tuples as it ever held, which must be known (see
// Seen); a random one is kept sorted. A process is its program graph, with a label
// for each node. What goes wrong at run time here is not there: Spin's arithmetic
// wraps, and an atomic block that cannot go on lets others in.
package promela
