// Package pebble keeps a journal in a folder, in Pebble, a log-structured store:
// it is what makes the engine of a coordinator durable.
//
// Facts are kept as the newest value of each key (journal/codec); a Commit is one
// batch, written to the store's log and synced once. Each batch says from which
// position to which it leads, so that a gap is found at the next start.
//
// Invariants:
//   - What Commit returned nil for survives the end of the process and the loss
//     of power; of a batch that was under way, all is there or nothing.
//   - A record that was torn at the very end of the log is dropped, with one
//     warning. Any other damage is fault.ErrCorrupt, which names the file and, if
//     it is known, the offset; nothing is skipped in silence.
//   - After a write or a sync that failed, all is journal.ErrBroken: nothing is
//     synced a second time and called durable. Only a full disk is no failure: a
//     reserve is kept for it, see Full, and while the disk is low the tables are
//     written anew without what is gone, as soon as there is room for that.
//   - One process at a time has the folder: who opens a journal holds the lock of
//     the data folder that it is in (shared/datadir).
//
// In the folder, beside the store's files: FORMAT, the number of the format;
// NEWEST, the number of the newest log; RESERVE, room for when the disk is full.
//
// It does not decide what is kept, and knows nothing of how an engine uses it.
package pebble
