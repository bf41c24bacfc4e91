// Package sqlfile keeps one SQLite file for one process, without C.
//
// What it keeps true:
//
//   - One handle holds a file: a second Open, from wherever, is refused.
//   - A file of another program, or of a newer version of ours, is refused and left
//     as it is; an older one is brought to the newest version, step by step, each
//     step in a transaction of its own.
//   - A transaction that returned nil is on disk (write-ahead log,
//     synchronous=FULL); one that returned an error changed nothing.
//
// There is one connection, used by one caller at a time, and no statement is ever
// interrupted: an interrupted one would cost the connection, and with it the lock on
// the file. A context therefore ends the wait for the connection, nothing else.
package sqlfile
