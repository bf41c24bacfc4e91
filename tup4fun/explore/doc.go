// Package explore runs tup4fun programs: one run at a time (Run), or all of them
// (Check, Build).
//
// Compile makes program graphs of a program, with one edge for each test,
// assignment and operation on a space; atomic is one step. Check explores every
// reachable state, breadth first and on all cores, and says of each property
// whether it holds, with a shortest run where it does not. Properties of whole runs
// (eventually, leadsto, ltl) are checked on the whole state graph, against a Büchi
// automaton of their negation, by strongly connected parts.
//
// What is kept whatever the number of cores, and whatever the reductions (dead
// variables, symmetry, partial order): verdicts; and for given reductions the counts
// and the traces. A bound that is reached (states, memory, time) is an outcome of
// its own, Incomplete; nothing is ever said to hold that was not looked at to the
// end. A step without meaning (a division by zero, an overflow, an index out of
// range, atomic that cannot go on) makes its state a stuck one, with a reason.
//
// A state is a short list of numbers: of what each process, the shared variables and
// each space look like (tables). The steps of a process are computed once for each
// look of what they depend on (memo), and looked up after that.
//
// It knows nothing of the running system, and prints nothing: package draw does.
package explore
