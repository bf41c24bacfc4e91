package work

import (
	"context"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/task"
	"leasehold/shared/tuple"
)

// Client is the protocol as a manager speaks it. It may be used concurrently.
type Client struct{ Repo space.Repository }

// Issue adds a work-item for a task (Action, Subject, Parts, Data and Timeout
// count) if there is room; issued says whether. The task was chosen after a look at
// what is busy. fault.ErrConflict says that it may have been overtaken since: a live
// lease overlaps, or a result of it waits or was ingested. Look and select again.
func (c Client) Issue(ctx context.Context, seen Busy, t models.Task, priority int64) (issued bool, err error) {
	encoded, err := task.Encode(task.Item{Task: t, Priority: priority})
	if err != nil {
		return false, err
	}
	reply, err := c.Repo.Call(ctx, space.OpID{}, procIssue, tuple.New(encoded, seen.ingested))
	return len(reply) > 0, err
}

// Step is what a manager does next: ingest a result, or issue more.
type Step struct {
	Result *Held // nil: there is room
}

// Held is a result in a manager's hands.
type Held struct {
	task.Outcome
	ref int64
}

// Next waits for a result of the action, and takes hold of it. A hungry manager
// is also told when there is room for more work.
func (c Client) Next(ctx context.Context, action string, hungry bool) (Step, error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procNext, tuple.New(action, hungry))
	if err != nil || reply.Str(0) == replyRoom {
		return Step{}, err
	}
	if len(reply) != 3 {
		return Step{}, fmt.Errorf("%s: %w: an answer of %d fields", procNext, fault.ErrCorrupt, len(reply))
	}
	t, _ := reply[2].(tuple.Tuple)
	return Step{Result: &Held{Outcome: task.DecodeResult(t), ref: reply.Int64(1)}}, nil
}

// Ingested says that a result is in the catalog. fault.ErrStaleToken says that
// the hold had ended before: somebody else ingests it again, to no effect.
func (c Client) Ingested(ctx context.Context, h *Held) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procIngested, tuple.New(h.ref))
	return err
}

// Claimed is parts of a subject that somebody is at work on.
type Claimed struct {
	Subject string
	Parts   []string
}

// Busy is what a manager saw before it chose. The zero Busy is that nothing was
// busy, and nothing had ever been ingested.
type Busy struct {
	Claimed  []Claimed // live leases and results that wait
	ingested int64     // results, before the look began
}

// Busy looks at what is not to be chosen. What was ingested before is in the catalog
// already: so look first, and then choose from the catalog.
func (c Client) Busy(ctx context.Context, action string) (Busy, error) {
	var seen Busy
	for first, after := true, int64(0); first || after != 0; first = false {
		reply, err := c.Repo.Call(ctx, space.OpID{}, procBusy, tuple.New(action, after))
		if err != nil {
			return Busy{}, err
		}
		if first {
			seen.ingested = reply.Int64(2)
		}
		var claimed []Claimed
		if claimed, after, err = unpack(reply); err != nil {
			return Busy{}, err
		}
		seen.Claimed = append(seen.Claimed, claimed...)
	}
	return seen, nil
}
