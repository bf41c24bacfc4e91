// Package store keeps the visit states of origins in one SQLite file of its own,
// visits.db, and chooses from them by a policy of package visit.
//
// Every origin waits in one place (pool, queue, class, ref), and one index has them
// in that order. An origin that must be stepped over (it rests, is visited now, or
// is disabled) is in a pool that no pick reads, and is swept back when its time has
// come. So a pick costs what the origins picked and the queues cost, whatever the
// number of origins.
//
// What it keeps true:
//
//   - A claim is on disk before anybody is asked to visit: no origin is visited
//     twice for one slot, whoever is killed.
//   - An outcome is recorded once, by its date; one that is late is recorded, one
//     that is not newer than the last is not.
//   - Counters are moved by the transaction that moves origins, in memory once it
//     is committed; they are counted anew when the file is opened.
//
// The file is apart from the catalog because its rows change with every visit and
// can be made again from the catalog: losing it costs what was learned, nothing
// else. A catalog may be elsewhere, or in another database; this store is always
// the coordinator's own.
//
// A context ends the wait for the file (shared/sqlfile). All methods may be called
// concurrently.
package store
