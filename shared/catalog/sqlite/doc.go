// Package sqlite is the default driver of the catalog: one SQLite file.
//
// What it keeps true:
//
//   - What shared/sqlfile promises: one process holds a file, and a call that
//     returned nil is on disk. Only the notes that Select makes for itself may be
//     lost, since they can be made again.
//   - A researched pair costs bits, not rows: the clips researched in an episode
//     are one compressed bitmap of their numbers. A clip of a new version gets
//     a new number, so that all episodes are to be researched for it again.
//   - An episode that is no candidate has nothing to select. Select works on
//     the candidates in order, and strikes out those that have nothing left;
//     whatever gives an episode work makes it a candidate again. So it stays
//     cheap among 10^5 episodes that are done.
//
// A context ends the wait for the file, and long calls between two of their steps.
//
// # Caveats
//
// Totals reads every episode's bitmap. A clip that begins to be selectable
// makes all episodes candidates, in one transaction.
package sqlite
