package task

import (
	"context"
	"encoding/json"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Client calls the procedures of the protocol over one session. It may be used
// concurrently.
type Client struct{ Repo space.Repository }

// Claim waits for a task of one of the actions, and holds it until its timeout. It
// takes the highest priority first, and of equal priorities the oldest. A task that
// the caller gave back is not offered to it again while another worker could do it.
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

// Extend restarts a task's timeout.
func (c Client) Extend(ctx context.Context, i Item) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procExtend, tuple.New(i.ID, i.Token))
	return err
}

// Report puts a result of a task. A final result resolves the task; any other restarts
// its timeout. fault.ErrStaleToken means that the result was put, but the caller no
// longer holds the task and must stop. So a worker whose session was lost may still
// report over a new session.
func (c Client) Report(ctx context.Context, i Item, part string, final bool, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("result of task %s: %w: %w", i.ID, fault.ErrInvalid, err)
	}
	r := ResultTuple{Action: i.Action, Subject: i.Subject, Part: part, Lease: i.Lease, Token: i.Token, Final: final, Body: string(data)}
	reply, err := c.Repo.Call(ctx, space.OpID{}, procReport, tuple.New(i.ID, EncodeResult(r)))
	if err != nil {
		return err
	}
	if !isCurrent(reply) {
		return fmt.Errorf("report of task %s: %w", i.ID, fault.ErrStaleToken)
	}
	return nil
}

// Release gives a task back because the caller cannot do it, but another worker might.
// It counts the attempt; a task past its maximum becomes a dead letter.
func (c Client) Release(ctx context.Context, i Item, reason string) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procRelease, tuple.New(i.ID, i.Token, reason))
	return err
}

// HandBack gives a task back because the caller stops. It counts no attempt.
func (c Client) HandBack(ctx context.Context, i Item) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procHandBack, tuple.New(i.ID, i.Token))
	return err
}

// ReviveStuck finds the waiting tasks of an action that no live worker will ever claim.
// Tasks that all workers gave back may be claimed again after the back-off; malformed
// tasks become dead letters. The manager of an action calls it at an interval.
func (c Client) ReviveStuck(ctx context.Context, action string) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procReviveStuck, tuple.New(action))
	return err
}
