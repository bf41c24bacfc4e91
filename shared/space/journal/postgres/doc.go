// Package postgres keeps a journal in a PostgreSQL database, where several processes can open it and one at a time owns
// it.
//
// All tables are in the schema leasehold_REALM. A Commit is one statement on one connection: it moves the position in
// the table realm if epoch and position are as expected, inserts the changed facts as one row of the table log, and
// inserts the records of the history. In the background the owner folds the log into the table fact, so that a task
// which comes and goes between two folds is never a row there. Load reads fact and the rest of the log.
//
// Invariants:
//   - A commit whose outcome is unknown, because the connection is lost or the wait for a synchronous standby was
//     cancelled, counts as journal.ErrDeposed. A journal that returned it returns it from then on.
//   - The connection that claimed the journal is the only one that commits to it, and is never replaced: its end is
//     the end of the ownership. A standby sees that end in pg_stat_activity.
//   - Only Claim and Close change the row of the table owner. A transaction that has read it FOR SHARE, with
//     the epoch of its own process, commits before the next Claim.
//   - The position in log of each row is above all that were folded. Applying the log to fact again changes nothing, so
//     a fold may end between any two steps.
//   - No clock of the database decides anything, and no error or log line contains the password.
//
// The history is written by the Commit itself, because it is read by queries that must see everything
// committed; a commit that ends no task has none.
package postgres
