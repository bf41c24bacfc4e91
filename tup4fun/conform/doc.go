// Package conform checks that a running system does only what its model allows: it
// checks a coordinator's event log (docs/trace.md) against a tup4fun model.
//
// A Map translates events into actions of the model. It selects events with patterns
// and splits the log into instances: one lease, one task, one session. Values that
// never repeat, such as tokens, are numbered within an instance in the order of their
// first occurrence, so that a small model can explain any of them.
//
//	instance lease;
//	number token = old;
//	on put lease ("lease", lease, _, _, _, _, token) in work.issue by Manager(process)
//	    -> Lease.put(token);
//	ignore any lease ("total", _, _);
//
// For each instance a Checker tracks the set of all states in which the model may be:
// it takes each step that shows the actions of the event, and then the steps that the
// log does not show. If the set becomes empty, the event is a violation, and the report
// lists the actions that the model allows there.
//
// Invariants: a log that the model can produce under its map is never a violation, with
// one exception: after a reload the model takes no more unlogged steps than it needs to
// reach the logged state. The actions of one step must be consecutive in the log and
// have the same clock. Before the model is asked, the log must keep what docs/trace.md
// promises of every log (logstate.go): its clock, the live sessions, and the place and
// text of each tuple. States are bounded; if the bound is reached the outcome is
// Incomplete, never Conforms.
//
// The package does not explore a model or prove properties; package explore does.
package conform
