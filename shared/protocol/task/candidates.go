package task

import (
	"slices"

	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
)

// mayClaim reports whether the caller, a worker of that name, may claim a task. It may not if it
// gave the task back, or if another session on its machine did while a session on a machine that
// did not serves the action, because the machine may be the reason for the failure.
func mayClaim(tx space.Tx, i Item, worker string) bool {
	if slices.Contains(i.Claimants, worker) {
		return false
	}
	return len(i.Hosts) == 0 || !slices.Contains(i.Hosts, tx.Host(tx.Caller())) || !otherHostServes(tx, i)
}

// otherHostServes reports whether a session that did not give the task back, on a machine
// from which no session did, serves the action. Sessions of unknown machines count as ones
// on machines of their own.
func otherHostServes(tx space.Tx, i Item) bool {
	return slices.ContainsFunc(status.Servers(tx, i.Action), func(s status.Serving) bool {
		return !slices.Contains(i.Claimants, nameOf(tx, s.ID)) && !slices.Contains(i.Hosts, tx.Host(s.ID))
	})
}

// addClaimant notes that the worker of a session gave a task back or failed with it.
func addClaimant(tx space.Tx, i Item, session string) Item {
	if worker := i.CurrentClaimant; !slices.Contains(i.Claimants, worker) {
		i.Claimants = newest(append(i.Claimants, worker), maxClaimants)
	}
	if host := tx.Host(session); host != "" && !slices.Contains(i.Hosts, host) {
		i.Hosts = newest(append(i.Hosts, host), maxClaimants)
	}
	return i
}
