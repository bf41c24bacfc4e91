package task

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// A suspect is a task that a worker held each of several times when it was lost. It may be the reason, so it is
// claimed alone: by a worker that holds nothing else, and that claims nothing beside it. Otherwise it would take its
// neighbours with it again.

const (
	suspectLosses = 2                // makes a task a suspect
	reserveAfter  = 10 * time.Second // a suspect that waits so long reserves a worker
)

func (i Item) suspect() bool { return i.Lost >= suspectLosses }

// loseShared returns a task whose worker was lost while it held others too (beside). It counts no attempt and no
// claimant, because the task may not be the reason.
func (p Policy) loseShared(tx space.Tx, e space.Entry, i Item, beside int64) error {
	reason := fmt.Sprintf("its worker was lost with %d other tasks; not counted as an attempt", beside)
	i, err := p.recordAttempt(tx, e, i, failure{reason: reason, kind: WorkerLost})
	if err != nil {
		return err
	}
	i.State = "waits again: " + reason
	if err := p.place(tx, e, i, space.OldPlace); err != nil {
		return err
	}
	return p.freeSlots(tx, i.Limits)
}

// holdsTasks reports whether a session holds any task.
func holdsTasks(tx space.Tx, session string) bool {
	return tx.Count(lease.Space, ClaimsOf(session)) > 0
}

// serves reports whether a session is alive and serves an action.
func serves(tx space.Tx, session, action string) bool {
	_, ok := tx.Find(status.Space, status.MatchServing(session, action), nil)
	return ok && tx.Alive(session)
}

// mayReserve reports whether a waiting suspect shall reserve the caller, which holds other tasks: it has waited for
// reserveAfter, and no other worker is reserved.
func mayReserve(tx space.Tx, i Item) bool {
	return tx.Elapsed()-i.offeredAt >= reserveAfter && serves(tx, tx.Caller(), i.Action) &&
		(i.onlyFor == "" || !serves(tx, i.onlyFor, i.Action))
}

// reserve keeps the caller from claims until it holds nothing, and then for a suspect.
func reserve(tx space.Tx, e space.Entry, i Item) error {
	i.onlyFor = tx.Caller()
	return rewrite(tx, e, i, e.Turn)
}

// reservedTask returns the suspect that the caller has alone or is reserved for; only reports whether there is one,
// so that the caller may claim nothing else. ready reports whether the caller may claim it now.
func (p Policy) reservedTask(tx space.Tx) (found pick, only, ready bool) {
	e, only := first(tx, aloneLabel(tx.Caller()))
	if !only || e.Held || holdsTasks(tx, tx.Caller()) {
		return pick{}, only, false
	}
	i, err := p.decodeClaimable(e)
	return pick{entry: e, item: i}, true, err == nil && mayClaim(tx, i, workerName(tx)) && !isPaused(tx, i.Action) && fullLimit(tx, e, i) == ""
}

// nextFor returns the task that the caller may claim next, of those that search finds, unless a suspect is reserved
// for the caller: then that one, if wanted accepts it.
func (p Policy) nextFor(tx space.Tx, wanted func(space.Entry) bool, search func() (pick, error)) (pick, error) {
	own, only, ready := p.reservedTask(tx)
	switch {
	case only && own.entry.Ref == 0, ready && !wanted(own.entry):
		return pick{}, nil
	case ready:
		return own, nil
	case only: // a pause, a limit or another machine came between
		if err := unreserve(tx, own); err != nil {
			return pick{}, err
		}
	}
	found, err := search()
	if err != nil || found.entry.Ref == 0 || found.passed.entry.Ref == 0 || !before(found.passed.entry.Position, found.entry.Position) {
		return found, err
	}
	return pick{moved: true}, reserve(tx, found.passed.entry, found.passed.item)
}

// unreserve ends the reservation of the caller. A malformed suspect is left to the next claim or sweep.
func unreserve(tx space.Tx, own pick) error {
	own.entry.Labels = slices.DeleteFunc(slices.Clone(own.entry.Labels), func(l string) bool { return l == aloneLabel(tx.Caller()) })
	if own.item.onlyFor == "" {
		return tx.Amend(own.entry.Ref, nil, own.entry.Attributes)
	}
	own.item.onlyFor = ""
	return rewrite(tx, own.entry, own.item, own.entry.Turn)
}

// freeReserved lets the session that is reserved for a waiting suspect claim others again, unless it is the taker.
func freeReserved(tx space.Tx, e space.Entry, taker string) error {
	if e.Held {
		return nil
	}
	for _, l := range e.Labels {
		if session, ok := strings.CutPrefix(l, aloneLabel("")); ok && session != taker {
			return wake(tx, session)
		}
	}
	return nil
}

// freeWorker is called when a session has ended a claim. If it holds nothing now, its waiting claims may take
// suspects, and others if it had a suspect.
func freeWorker(tx space.Tx, session string) error {
	concerned := tx.CountLabelled(Space, suspectLabel) > 0 || tx.CountLabelled(Space, aloneLabel(session)) > 0
	if !concerned || holdsTasks(tx, session) {
		return nil
	}
	return wake(tx, session)
}

// wake runs the waiting claims of a live session again, by amending the first task of each action that it may claim.
// For a session that serves none, as a program on its own, it is the action of the suspect that waits first.
func wake(tx space.Tx, session string) error {
	if !tx.Alive(session) {
		return nil
	}
	var actions []string
	for _, e := range tx.Scan(status.Space, status.MatchServing(session, tuple.AnyString)) {
		actions = append(actions, status.DecodeServing(e.Tuple).Action)
	}
	for _, l := range []string{aloneLabel(session), suspectLabel} {
		if e, ok := first(tx, l); ok && len(actions) == 0 {
			actions = append(actions, decodeHeader(e.Tuple).Action)
		}
	}
	for _, action := range actions {
		if e, ok := tx.Find(Space, AnyOf(action), nil); ok {
			if err := tx.Amend(e.Ref, nil, e.Attributes); err != nil {
				return err
			}
		}
	}
	return nil
}
