// Package simulate runs the policies of package visit on made-up worlds, to say
// which of them keeps more origins fresh with the same visits.
//
// A Scenario is a world: how often origins change (lognormal rates; Poisson,
// bursts, or regular like a podcast), how large they are (Pareto), which are forks,
// die, or come later, and how well their lister dates changes. Run plays one policy
// through one world; the world's events depend on the scenario and the seed only,
// so all policies see the same ones. The policies' code is that of the store; only
// the queues are in memory.
//
// The reference "bound" makes the same greedy choice with every origin's true rate
// (0 once it is dead) and no reserved shares. It does not know when changes happen,
// so it is no limit of what is possible: it is what perfect estimation would give.
//
// Measured are, over the time that origins are alive: freshness, the share of it
// with no unseen change; lag, the mean age of the oldest unseen change (0 while
// fresh); delay, from each change to the visit that saw it, where changes unseen at
// the end count as seen then, and an origin that was listed and not yet visited is
// an unseen change itself.
package simulate
