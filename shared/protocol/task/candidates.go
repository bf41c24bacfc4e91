package task

import (
	"slices"

	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
)

// Excluded returns the workers that gave a task back and may not claim it.
func (i Item) Excluded() []string { return i.Claimants[min(i.forgiven, len(i.Claimants)):] }

// mayClaim reports whether the caller, a worker of that name, may claim a task. It may not if it
// gave the task back and is not forgiven, or if another session on its machine did while a session on a machine that
// did not serves the action, because the machine may be the reason for the failure.
func mayClaim(tx space.Tx, i Item, worker string) bool {
	if slices.Contains(i.Excluded(), worker) {
		return false
	}
	return len(i.Hosts) == 0 || !slices.Contains(i.Hosts, tx.Host(tx.Caller())) || !otherHostServes(tx, i)
}

// otherHostServes reports whether a session that did not give the task back, on a machine
// from which no session did, serves the action. Sessions of unknown machines count as ones
// on machines of their own.
func otherHostServes(tx space.Tx, i Item) bool {
	return slices.ContainsFunc(status.Servers(tx, i.Action), func(s status.Serving) bool {
		return !slices.Contains(i.Excluded(), nameOf(tx, s.ID)) && !slices.Contains(i.Hosts, tx.Host(s.ID))
	})
}

// addClaimant notes that the worker of a session gave a task back or failed with it. The last claimant is the one that
// did so last, so that a forgiven one may not claim the task again.
func addClaimant(tx space.Tx, i Item, session string) Item {
	worker := i.CurrentClaimant
	if !slices.Contains(i.Excluded(), worker) {
		if at := slices.Index(i.Claimants, worker); at >= 0 {
			i.Claimants = slices.Delete(slices.Clone(i.Claimants), at, at+1)
			i.forgiven--
		}
		i.Claimants = append(i.Claimants, worker)
		i.forgiven = max(0, i.forgiven-max(0, len(i.Claimants)-maxClaimants))
		i.Claimants = newest(i.Claimants, maxClaimants)
	}
	if host := tx.Host(session); host != "" && !slices.Contains(i.Hosts, host) {
		i.Hosts = newest(append(i.Hosts, host), maxClaimants)
	}
	return i
}
