package task

import (
	"context"
	"fmt"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Client calls the procedures of the protocol over one session. It may be used
// concurrently.
type Client struct {
	Repo space.Repository
	// Op is the operation id of each changing call, so that repeating the call returns the
	// first answer. A client with an Op is for one call. The zero Op lets the connection
	// choose.
	Op space.OpID
	// Reads is the session for calls that only read, if Repo keeps answers under a key: such a call
	// needs no key, and cannot be made in the transaction that keeps an answer. nil: Repo.
	Reads space.Repository
}

func (c Client) call(ctx context.Context, procedure string, args tuple.Tuple) (tuple.Tuple, error) {
	return c.Repo.Call(ctx, c.Op, procedure, args)
}

// ClaimedTask is a task that the caller has claimed.
type ClaimedTask struct {
	Item
	Parents []ParentResult // in the order of After
}

// Claim waits for a task of one of the actions, and holds it until its timeout. It takes the highest priority first,
// then groups take turns, and the oldest is first. A task that the caller gave back is not offered to it again while
// another worker could do it. It fails as ClaimUpTo does.
func (c Client) Claim(ctx context.Context, actions ...string) (Item, error) {
	all, err := c.ClaimUpTo(ctx, 1, actions...)
	if err != nil {
		return Item{}, err
	}
	return all[0].Item, nil
}

// ClaimUpTo waits until there is a task of one of the actions, and claims up to n: from 1 to MaxClaims. It returns at
// least one; they may be fewer although more wait, if they are large together. It fails with fault.ErrInvalid if n is
// out of that range or an action is missing or invalid, and with fault.ErrOverloaded if the space is full.
func (c Client) ClaimUpTo(ctx context.Context, n int, actions ...string) ([]ClaimedTask, error) {
	var args tuple.Tuple
	if n != 1 {
		args = append(args, int64(n))
	}
	for _, a := range actions {
		args = append(args, a)
	}
	for {
		reply, err := c.call(ctx, procClaim, args)
		if err != nil {
			return nil, err
		}
		items, err := decodeItems(blobOf(reply))
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			c.Op = space.OpID{} // it only moved tasks out of the way
			continue
		}
		return items, nil
	}
}

// Extend restarts a task's timeout. fault.ErrStaleToken means that the caller no longer holds the
// task and must stop; fault.ErrCorrupt means that the task is malformed. Both are so for Note,
// Release, Fail and HandBack too.
func (c Client) Extend(ctx context.Context, i Item) error {
	_, err := c.call(ctx, procExtend, tuple.New(i.ID, i.Token))
	return err
}

// Note restarts a task's timeout and notes its progress: a fraction from 0 to 1, and a line of text. Any other
// fraction fails with fault.ErrInvalid.
func (c Client) Note(ctx context.Context, i Item, p models.Progress) error {
	_, err := c.call(ctx, procExtend, tuple.New(i.ID, i.Token, p.Fraction, p.Text))
	return err
}

// Report reports a result of a task. The result is put as a tuple only if the task has a lease or a result tuple. A
// final result resolves the task; any other restarts its timeout. fault.ErrStaleToken means that the result was put,
// if the task has a lease, but the caller no longer holds the task and must stop. So a worker whose session was lost
// may still report over a new session. Other errors: fault.ErrInvalid for a body that JSON cannot express,
// fault.ErrTooLarge for one over maxResult, fault.ErrOverloaded if the space is full, and fault.ErrCorrupt for a
// malformed task.
func (c Client) Report(ctx context.Context, i Item, part string, final bool, body any) error {
	_, err := c.report(ctx, i, part, final, body, "", nil)
	return err
}

// Resolve ends a task with its result, and creates further tasks in the same transaction. It fails as Report and
// CreateAll do. After any error but fault.ErrUnavailable no task has been created. If a task could not be created,
// the old one is not resolved either.
func (c Client) Resolve(ctx context.Context, i Item, result any, create ...New) ([]Item, error) {
	return c.report(ctx, i, "", true, result, "", create)
}

// ResolveWithOutput is Resolve that keeps the last lines that the attempt printed with the end of the task: at most 2 KiB
// of output.
func (c Client) ResolveWithOutput(ctx context.Context, i Item, result any, output string, create ...New) ([]Item, error) {
	return c.report(ctx, i, "", true, result, output, create)
}

// report is Report with tasks to create, which only a final result may have. It returns the created tasks in the
// order of create.
func (c Client) report(ctx context.Context, i Item, part string, final bool, body any, output string, create []New) ([]Item, error) {
	args, err := reportArgs(i, part, final, body)
	if err != nil {
		return nil, err
	}
	var reply tuple.Tuple
	if len(create) == 0 {
		reply, err = c.call(ctx, procReport, withOutput(args, output))
	} else {
		err = c.createKnowing(ctx, withDefaults(create), func(news []byte) (err error) {
			reply, err = c.call(ctx, procReport, withOutput(append(args.Clone(), news), output))
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	if !isCurrent(reply) {
		return nil, fmt.Errorf("report of task %s: %w", i.ID, fault.ErrStaleToken)
	}
	if len(reply) < 2 {
		return nil, nil
	}
	return itemsOf(createdOf(reply))
}

// Failure is why and how an attempt failed.
type Failure struct {
	Reason string
	Delay  time.Duration // before any worker gets the task again; 0: the coordinator's rule
	Output string        // the last lines that the attempt printed
	GiveUp bool          // no worker could do it: it is dead at once
}

// Release gives a task back because the caller cannot do it, but another worker might. It counts the attempt; a task
// past its maximum becomes a dead letter. It fails as Extend does.
func (c Client) Release(ctx context.Context, i Item, reason string) error {
	return c.Fail(ctx, i, Failure{Reason: reason})
}

// Fail is Release with more to tell. It fails as Extend does, and with fault.ErrInvalid for a delay below 0 or above
// ten years.
func (c Client) Fail(ctx context.Context, i Item, f Failure) error {
	_, err := c.call(ctx, procRelease, failureArgs(i, f))
	return err
}

// HandBack gives a task back because the caller stops. It counts no attempt. It fails as Extend does.
func (c Client) HandBack(ctx context.Context, i Item) error { return c.HandBackFor(ctx, i, 0) }

// HandBackFor gives a task back that no worker shall get before a delay is over. It counts no attempt. A delay of 0
// or less is none. A delay above ten years fails with fault.ErrInvalid.
func (c Client) HandBackFor(ctx context.Context, i Item, delay time.Duration) error {
	_, err := c.call(ctx, procHandBack, handBackArgs(i, delay))
	return err
}

// ReviveStuck finds the waiting tasks of an action that no live worker will ever claim. Tasks that all workers gave
// back may be claimed again after the back-off; malformed tasks become dead letters. The manager of an action calls
// it at an interval.
func (c Client) ReviveStuck(ctx context.Context, action string) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procReviveStuck, tuple.New(action))
	return err
}

// Sweep does what ReviveStuck does for a bounded part of the tasks of all actions, and finishes pauses and changes of
// limits whose callers stopped half-way. It returns where the next sweep goes on; the zero Cursor is the beginning.
// An empty Cursor returned means that all tasks were visited.
func (c Client) Sweep(ctx context.Context, from Cursor) (next Cursor, err error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procSweep, tuple.Tuple(from))
	return Cursor(reply), err
}

// Cursor is a place in a sequence of tasks.
type Cursor tuple.Tuple

// itemsOf returns the tasks in the first field of an answer, none if it has no bytes.
func itemsOf(reply tuple.Tuple) ([]Item, error) {
	decoded, err := decodeItems(blobOf(reply))
	if err != nil {
		return nil, err
	}
	all := make([]Item, len(decoded))
	for n, i := range decoded {
		all[n] = i.Item
	}
	return all, nil
}

// onlyItem returns the task of an answer that must have exactly one, such as the answer of task.requeue when it puts
// the task again.
func onlyItem(reply tuple.Tuple) (Item, error) {
	all, err := itemsOf(reply)
	switch {
	case err != nil:
		return Item{}, err
	case len(all) != 1:
		return Item{}, fmt.Errorf("an answer with %d tasks, want one: %w", len(all), fault.ErrCorrupt)
	}
	return all[0], nil
}
