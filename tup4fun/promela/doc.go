// Package promela exports a model in the language of Spin (Holzmann), so that both tools
// can be compared: Spin without its reductions (spin -o1 -o2 -a, cc -DNOREDUCE -DSAFETY)
// counts the same states and transitions, except for those of the init process, which
// fills the spaces and starts the others (ExtraStates, ExtraTransitions).
//
// A space is a table with as many rows as it ever has tuples, which must be known (see
// Seen); a random space is kept sorted. A process is its program graph, with a label for
// each node. Errors at run time differ: Spin's arithmetic wraps, and if an atomic block
// cannot continue, Spin runs other processes.
package promela
