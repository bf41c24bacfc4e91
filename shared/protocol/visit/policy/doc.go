// Package policy decides when an origin is visited next. It is arithmetic on
// records: it reads no clock, keeps no data and draws no random numbers, so that
// the store below this package and the simulator run the same code.
//
//	listing ──▶ Listed ─┐                    ┌─▶ Place: (pool, lister, class, ref)
//	                    ├─▶ State ─▶ Policy ─┤
//	outcome ──▶ Record ─┘                    └─▶ Shares: slots for each pool
//
// A Policy updates an origin's State after a visit (Record), assigns it to a queue
// (Place), estimates the value of a visit (Worth) and divides visit slots among the
// pools (Shares). Pick combines these. Invariant: in one queue (pool, lister, class)
// an origin with a smaller ref is worth at least as much as one with a larger ref;
// therefore merging the heads of the queues finds the best n of all origins.
//
// Policies are "value" (the default), "seed", "swh2026", "legacy" and "roundrobin";
// docs/visits.md compares them. Rules.Rest decides for every policy when an origin
// may be visited again at the earliest.
//
// Times are whole seconds since 1970 and rates are changes per day. A target orders
// origins in a queue; it is not a date at which they are visited. Inputs are
// clamped, so that no time overflows and no rate is NaN.
package policy
