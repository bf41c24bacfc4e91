package task

import (
	"context"
	"slices"

	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// passOn gives a claimed task to a worker that has not given it back, because the machine of the caller lacks what the
// task needs. It counts no attempt. The answer is false, and nothing changes, if no such worker serves the action, also
// none that has no slot for it now: then all agree that the task cannot be done.
func (p Policy) passOn(tx space.Tx, e space.Entry, i Item, reason string) (tuple.Tuple, error) {
	i.State = "passed on by " + i.CurrentClaimant + ": " + truncate(reason)
	i = addClaimant(tx, i, e.Holder)
	waits := slices.ContainsFunc(status.Paused(tx, i.Action), func(s status.Serving) bool {
		return !slices.Contains(i.Excluded(), nameOf(tx, s.ID))
	})
	if !waits && len(willingWorkers(tx, i)) == 0 {
		return tuple.New(false), nil
	}
	i, err := revokeAttempt(tx, i)
	if err != nil {
		return nil, err
	}
	if err := p.place(tx, e, i, space.OldPlace); err != nil {
		return nil, err
	}
	return tuple.New(true), p.freeSlots(tx, i.Limits)
}

// PassOn gives a task to another worker, because this machine lacks what it needs, such as a file. It counts no
// attempt, and the caller does not get the task again while another worker could do it. It reports false, and the
// caller keeps the task, if no worker is left that has not given it back. It fails as Extend does.
func (c Client) PassOn(ctx context.Context, i Item, reason string) (passed bool, err error) {
	reply, err := c.call(ctx, procHandBack, tuple.New(i.ID, i.Token, 0.0, reason))
	return err == nil && passedOn(reply), err
}
