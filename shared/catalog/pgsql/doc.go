// Package pgsql keeps the tables of one realm in a PostgreSQL database, for the stores of a coordinator
// (shared/catalog/sqldb).
//
// Invariants:
//
//   - All tables of a realm are in the schema leasehold_REALM, which is the search path of each connection.
//   - One connection writes, and has one user at a time, so that stores may keep in memory what only they write.
//     Readers have connections and snapshots of their own.
//   - A guard, which the coordinator gives, runs first in each transaction that writes. It fails in a process that
//     another one has deposed, so that such a process writes nothing.
//   - A database with a schema of a version from which no migration leads to this one is refused and stays as it
//     is. Others are migrated step by step; each step is one transaction that also records the version.
//   - A connection that is lost is made again by the next call. No error has the password of the URL.
//
// A context ends the wait for a connection, nothing else. A transaction has a time limit instead, after which its
// connection is closed.
//
// # Caveats
//
// If a connection is lost during a commit, the error is fault.ErrUnavailable and the outcome is unknown. PostgreSQL
// refuses the character NUL and invalid UTF-8 in text: the error is fault.ErrInvalid.
package pgsql
