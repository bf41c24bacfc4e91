// Package sqldb is what the stores of a coordinator use of a SQL database: transactions, statements, rows, and
// schemas with versions. Its drivers are sqlfile, for one SQLite file, and pgsql, for one schema of a PostgreSQL
// database.
//
// Invariants, which both drivers keep:
//
//   - One transaction writes at a time in a process. A store may therefore keep in memory what only it writes.
//   - Readers see the last commit before they begin, and never wait for the writer.
//   - A transaction that returned nil is kept; one that returned an error changed nothing, unless its commit was
//     under way when a connection to a server was lost. Then its outcome is unknown, and callers repeat it.
//   - A statement that fails makes its transaction fail, also when the function that ran it returns nil.
//
// # The statements of stores
//
// Statements are written once, in what SQLite and PostgreSQL have in common: parameters are ? or ?1, ?2 and so on,
// truth values are the integers 0 and 1 in columns and parameters, a statement inserts or replaces with ON CONFLICT
// (with the columns named), compares what may be NULL with IS NOT DISTINCT FROM, and chooses with CASE. An INSERT has
// RETURNING only in Conn.Insert, which reads the key of the row. No statement runs while the rows of another one are
// read, except in another transaction.
package sqldb
