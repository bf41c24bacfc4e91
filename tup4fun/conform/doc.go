// Package conform checks that a running system does only what its model allows: it
// holds a coordinator's log of events (docs/trace.md) against a tup4fun model.
//
// A Map says what the events are in the model. It covers events with patterns, and
// takes the log apart into small ones, each of one instance: one lease, one task, one
// session. Values that never repeat, such as tokens, are numbered within an instance in
// the order in which they come, so that a small model explains any of them.
//
//	instance lease;
//	number token = old;
//	on put lease ("lease", lease, _, _, _, _, token) in work.issue by Manager(process)
//	    -> Lease.put(token);
//	ignore any lease ("total", _, _);
//
// For each instance a Checker follows the set of all states in which the model may be:
// it takes each step that shows what the event says, and then whatever steps the log
// does not show. The first event after which the set is empty is a violation; the
// report says what the model would have allowed there.
//
// Invariants: a log that the model with its map can produce is never a violation,
// except that after a reload the model has done no more unlogged steps than it needs
// to be where the log says. What a step of the model shows must follow each other in
// the log, with one clock. Before the model is asked, the log must keep what
// docs/trace.md promises of every log (ledger.go): its clock, who lives, where each
// tuple is and what it says. States are bounded; over the bound the outcome is
// Incomplete, never Conforms.
//
// The package does not explore a model or prove anything of it: package explore does.
package conform
