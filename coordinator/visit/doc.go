// Package visit decides when an origin is looked at again. It is arithmetic on
// records: no clock, no storage, no randomness of its own.
//
//	listing ──▶ Listed ─┐                    ┌─▶ Place: (pool, lister, class, ref)
//	                    ├─▶ State ─▶ Policy ─┤
//	outcome ──▶ Record ─┘                    └─▶ Shares: slots for each pool
//
// A Policy says what a visit teaches (Record), where an origin waits (Place), what
// a place is worth at a time (Worth) and how slots are shared out (Shares); Pick
// puts these together. Within one queue (pool, lister, class) the smaller ref is
// never worth less, so the best n of any number of origins are found by merging
// the heads of queues. The store below this package and the simulator run the same
// code over different queues.
//
// Policies: "value" (the default), "seed", "swh2026", "legacy" and "roundrobin";
// see docs/visits.md. Whatever the policy, Rules.Rest says whether an origin may be
// visited at all.
//
// Times are whole seconds since 1970, rates are per day. A target is a position in
// an order, not a date. Numbers from outside are clamped: no input makes a time
// overflow or a rate become NaN.
package visit
