// Package simulate compares the policies of package visit: which one keeps more
// origins fresh with the same number of visits.
//
// A Scenario describes a simulated world: how often origins change (lognormal rates;
// Poisson, bursts, or regular like a podcast; with drift, phases, nights), how large they
// are (Pareto), which are forks, which die or are added later, how well their listers
// date changes, and which hosts fail. The seed draws a world from it, which is the same
// for all policies: no random number depends on what was drawn before by a visit. Run
// simulates one policy in one world. The policies are those that the store runs; only the
// queues are kept in memory.
//
// The reference "known-rates" makes the same greedy choice as the policy "value", but with
// every origin's true rate (0 once it is dead) and without reserved shares. It is not
// an upper limit, because it does not know when changes happen; it shows what perfect
// estimates of the rates would give. Compare also computes two limits without a run: the
// optimum of fixed intervals, and the freshness of a clairvoyant (limits.go).
//
// Results cover the time that origins are alive. Freshness is the share of that time
// without an unseen change. Lag is the mean age of the oldest unseen change (0 while
// fresh). Delay is the time from a change to the visit that saw it; changes unseen at
// the end count as seen then, and an origin that was listed but never visited counts
// as one unseen change.
package simulate
