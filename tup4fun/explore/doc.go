// Package explore runs tup4fun programs: one run at a time (Run), or all runs (Check,
// Build).
//
// Compile turns a program into program graphs, with one edge for each test, assignment
// and operation on a space; atomic is one step. Check explores every reachable state,
// breadth first and on all cores, and decides each property, with a run that violates
// it, if there is one: a shortest one if Trace.Shortest is set. Properties of whole runs (eventually, leadsto, ltl) are checked on the
// complete state graph: its product with a Büchi automaton of the negation is searched
// for accepting strongly connected components.
//
// Invariants: the number of cores and the reductions (dead variables, symmetry, partial
// order) never change a verdict; for given reductions the number of cores changes
// neither counts nor traces. If a bound is reached (states, memory, time), the outcome
// is Incomplete; a property holds only if all states were explored. If a step fails (a
// division by zero, an overflow, an index out of range, a blocked atomic block), its
// state is stuck, and the report has the reason.
//
// A state is a short list of numbers that refer to the states of its processes, shared
// variables and spaces (tables). The steps of a process are computed once for each
// combination of the parts that they depend on, and cached (memo).
//
// The package does not know the running system and prints nothing; package draw does.
package explore
