// Package store is the catalog in tables of a SQL database (shared/catalog/sqldb).
//
// Invariants:
//
//   - Those of shared/catalog/sqldb: one transaction writes at a time, and a call that returned nil is
//     kept. Only the candidates that Select closes may be lost, because the next
//     Select closes them again.
//   - No transaction keeps the writer for long. Curate, RemoveOrigin and Select take
//     several short ones; after a kill in between the catalog is consistent, and the
//     repeated call completes the work.
//   - A researched pair costs bits, not rows: the clips researched in an episode
//     are one compressed bitmap of their numbers. A clip of a new version gets
//     a new number, so that all episodes are to be researched for it again.
//   - Other episodes than the candidates have nothing to select. Select works on
//     the candidates in order, and closes those that have nothing left; each change that
//     gives an episode work makes it a candidate again in the same transaction, or notes
//     there that all episodes must be opened. So Select stays cheap among 10^5 episodes
//     that are done.
//
// A context ends the wait for the database, and long calls between two of their steps.
//
// # Caveats
//
// Totals reads every episode's bitmap. When the first of n clips with the same content
// goes, one transaction renames the original in the problems of the n - 1 others.
package store
