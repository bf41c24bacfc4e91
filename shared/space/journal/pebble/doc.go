// Package pebble keeps a journal in a folder, in Pebble, a log-structured store:
// it is what makes the engine of a coordinator durable.
//
// Facts are kept as the newest value of each key (journal/codec); a Commit is one
// batch, written to the store's log and synced once. Each batch records the position
// before and after it, so that a gap is found at the next start.
//
// Invariants:
//   - A batch for which Commit returned nil survives the end of the process and the
//     loss of power; one that was under way is there as a whole or not at all.
//   - A record that was torn at the very end of the log is dropped, with one warning. Any other damage is an error:
//     fault.ErrCorrupt with the file and, if known, the offset. Nothing is skipped in silence.
//   - After a write or a sync that failed, all is journal.ErrBroken: nothing is
//     synced a second time and called durable. A full disk is not a failure: a
//     reserve is kept for it, see Full, and while the disk is low the tables are
//     rewritten without facts that are gone, as soon as they fit.
//   - One process at a time has the folder: who opens a journal holds the lock of
//     the data folder that it is in (shared/process/datadir).
//
// In the folder, beside the store's files: FORMAT, the number of the format; NEWEST, the number of the newest log;
// STAMP, a position that it had at a time; RESERVE, space to free when the disk is full.
//
// The engine decides which facts are kept; the package knows only their keys.
package pebble
