// Package sqlfile keeps one SQLite file for one process, without C.
//
// The file may hold several schemas, each with migrations of its own: the packages
// that own the tables hand them to Open. The catalog and the visit schedule share a
// file in this way, so that one transaction can change both.
//
// Invariants:
//
//   - One handle holds a file: a second Open in this or another process is refused,
//     by a lock on the file PATH-lock beside it.
//   - A file of another program, or of a version of ours from which no migration leads to
//     this one, is refused and stays as it is. Others are migrated step by step; each step is one
//     transaction that also records the version, so a kill between two steps loses nothing.
//   - One connection writes, and has one user at a time; readers have connections of
//     their own and see the last commit, so they never wait for the writer.
//   - A transaction that returned nil is on disk (write-ahead log, synchronous=FULL);
//     one that returned an error changed nothing.
//   - The log is written back by the caller whose commit made it long, after he has
//     let go of the writer, because that takes as long as the disk likes.
//
// No statement is ever interrupted, because an interrupted one would cost the
// connection. A context therefore ends the wait for a connection, nothing else.
//
// # Caveats
//
// The folder must be on a local file system: readers share memory with the writer
// through the file PATH-shm. A file at Memory has one connection for everything.
package sqlfile
