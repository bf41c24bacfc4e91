// Package visits keeps the visit schedule of all origins in tables of the catalog's
// database, a SQLite file or a realm in PostgreSQL, and chooses from them by a policy of package visit.
//
// Every origin waits in one place (pool, queue, class, ref), and one index has them
// in that order. An origin that cannot be picked (it rests, is visited now, or is
// disabled) is in a pool that no pick reads, and is swept back when its time has
// come. So a pick costs what the origins picked and the queues cost, independent of the
// number of origins. A claim is first in a table of its own (claims.go), and its origin is
// still where it was picked; picks pass over it.
//
// Invariants:
//
//   - The schedule has the origins of the catalog that are visited: the
//     catalog adds and removes them in the transaction that changes itself
//     (OriginAdded, OriginRemoved).
//   - A claim is on disk before it is returned: no origin is visited twice for one
//     slot if the process is killed. cache.claims has the keys of the table claim.
//   - An outcome is recorded once, by its date. A late one is recorded too, unless a
//     newer one was.
//   - The cache changes with the transaction that changes the file. If that fails, the
//     next transaction reads the cache from the file again.
//   - No transaction takes long: what concerns many origins takes several, and can be
//     begun again after a kill. The longest one adds the origins of a listing, at most
//     models.MaxListed.
//
// Claims lock no rows (SELECT ... FOR UPDATE SKIP LOCKED), in PostgreSQL either: they serve several writers, and here
// one process writes at a time. A pick depends on counts of all origins and on when hosts were visited last, which that
// process has in its cache. In PostgreSQL the guard of the database (coordinator/database.OpenRealm) makes each
// transaction fail once another process owns the realm. That one fills its cache from the tables, and so claims what
// the one before it would have; only the gaps after the last visits of hosts, of some seconds, are not in a table.
//
// A context ends the wait for the file (shared/catalog/sqlfile). All methods may be called
// concurrently, except OriginAdded and OriginRemoved, which the catalog calls.
package visits
