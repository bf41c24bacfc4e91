package task

import (
	"context"
	"encoding/json"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Client is the protocol as a session speaks it. It may be used concurrently.
type Client struct{ Repo space.Repository }

// Claim waits for a task of one of the actions, and takes hold of it until its
// timeout: the one with the highest priority, and of these the oldest. A task that
// the caller gave back is not offered to it again while another could do it.
func (c Client) Claim(ctx context.Context, actions ...string) (Item, error) {
	args := make(tuple.Tuple, len(actions))
	for i, a := range actions {
		args[i] = a
	}
	t, err := c.Repo.Call(ctx, space.OpID{}, procClaim, args)
	if err != nil {
		return Item{}, err
	}
	return Decode(t)
}

// Extend lets a task's timeout begin anew.
func (c Client) Extend(ctx context.Context, i Item) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procExtend, tuple.New(i.ID, i.Token))
	return err
}

// Report puts a result of a task. A final one resolves the task; another lets its
// timeout begin anew. fault.ErrStaleToken says that the result was put, but the
// task is no longer the caller's: stop. So a worker whose session was lost may
// report from a new one.
func (c Client) Report(ctx context.Context, i Item, part string, final bool, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("result of task %s: %w: %w", i.ID, fault.ErrInvalid, err)
	}
	o := Outcome{Action: i.Action, Subject: i.Subject, Part: part, Lease: i.Lease, Token: i.Token, Final: final, Body: string(data)}
	reply, err := c.Repo.Call(ctx, space.OpID{}, procReport, tuple.New(i.ID, EncodeResult(o)))
	if err != nil {
		return err
	}
	if !reply.Bool(0) {
		return fmt.Errorf("report of task %s: %w", i.ID, fault.ErrStaleToken)
	}
	return nil
}

// Release gives a task back because the caller cannot do it, but another might.
// The attempt is counted; after too many the task is dead.
func (c Client) Release(ctx context.Context, i Item, reason string) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procRelease, tuple.New(i.ID, i.Token, reason))
	return err
}

// HandBack gives a task back because the caller stops; nothing is counted.
func (c Client) HandBack(ctx context.Context, i Item) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procHandBack, tuple.New(i.ID, i.Token))
	return err
}

// Unstick looks after the waiting tasks of an action that no live worker will ever
// claim. Those that all have given back may be claimed again after the back-off;
// those that cannot be understood become dead letters. Whoever looks after an
// action calls it now and then.
func (c Client) Unstick(ctx context.Context, action string) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procUnstick, tuple.New(action))
	return err
}
