// Package pairing keeps the two stores of a data folder together: the database and the journal. Both have a Mark with
// one instance id and a counter. The counter is raised in both at a start, at a clean stop, and regularly while
// something changes, so that the next start finds a store that is missing, empty, older or of another data folder.
//
// Invariants:
//   - The counter is raised in the database first, then in the journal, and then it is
//     confirmed in the database. So a process may be killed between any two of these steps:
//     the next start accepts a journal from the confirmed counter to the raised one.
//   - New stores get their instance id in the same steps.
//
// A copy of a store that has the counter of the other store is not found: it is at most as
// old as the time between two raises.
package pairing
