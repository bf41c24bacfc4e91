// Package sqlite is the default driver of the catalog: one SQLite file, in
// process, without C.
//
// What it keeps true:
//
//   - One process holds a file: a second Open, from wherever, is refused.
//   - A call that returned nil is on disk (write-ahead log, synchronous=FULL);
//     one that returned an error changed nothing. Only the notes that Select
//     makes for itself may be lost, since they can be made again.
//   - A researched pair costs bits, not rows: the clips researched in an episode
//     are one compressed bitmap of their numbers. A clip of a new version gets
//     a new number, so that all episodes are to be researched for it again.
//   - An episode that is no candidate has nothing to select. Select works on
//     the candidates in order, and strikes out those that have nothing left;
//     whatever gives an episode work makes it a candidate again. So it stays
//     cheap among 10^5 episodes that are done.
//
// There is one connection, used by one caller at a time, and no statement is
// ever interrupted: an interrupted one would cost the connection, and with it
// the lock on the file. A context therefore ends the wait for the connection,
// and long calls between two of their steps.
//
// # Caveats
//
// Totals reads every episode's bitmap. A clip that begins to be selectable
// makes all episodes candidates, in one transaction.
package sqlite
