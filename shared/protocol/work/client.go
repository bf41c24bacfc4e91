package work

import (
	"context"

	"leasehold/models"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Client calls the procedures of the protocol as a manager, over one session. It may
// be used concurrently.
type Client struct{ Repo space.Repository }

// Issue adds a work-item for a task if there is capacity, and reports whether it did. Of t, Action, Subject, Parts,
// Data and Timeout are used. The caller selected t after it called InProgress. Errors: fault.ErrConflict if part of t
// may be done or leased since, and then the caller calls InProgress and selects again; fault.ErrInvalid or
// fault.ErrTooLarge if t is malformed or too large; fault.ErrOverloaded if a space is full.
func (c Client) Issue(ctx context.Context, seen InProgress, t models.Task, priority int64) (issued bool, err error) {
	encoded, record := task.EncodeNew(task.Item{Task: t, Priority: priority})
	reply, err := space.Once(c.Repo).Call(ctx, space.OpID{}, procIssue, tuple.New(encoded, record, seen.ingested))
	return isIssued(reply), err
}

// Step is what a manager does next: ingest a result, or issue more work.
type Step struct {
	Result *Held // nil: there is capacity for more work
}

// Held is a result that the manager holds.
type Held struct {
	task.ResultTuple
	ref int64
}

// Next waits for a result of the action, and holds it. If wantsCapacity is true, it also returns when there is
// capacity for more work, with a Step without a result. It fails with fault.ErrCorrupt if the answer cannot be
// decoded.
func (c Client) Next(ctx context.Context, action string, wantsCapacity bool) (Step, error) {
	reply, err := c.Repo.Call(ctx, space.OpID{}, procNext, tuple.New(action, wantsCapacity))
	if err != nil {
		return Step{}, err
	}
	return decodeStep(reply)
}

// NextResult waits for a result of the action, and holds it. After an error the result is nil.
func (c Client) NextResult(ctx context.Context, action string) (*Held, error) {
	step, err := c.Next(ctx, action, false)
	return step.Result, err
}

// Ingested tells the spaces that a result is in the catalog. It fails with fault.ErrStaleToken if the hold had ended
// before: another manager ingests the result again, which changes nothing.
func (c Client) Ingested(ctx context.Context, h *Held) error {
	_, err := c.Repo.Call(ctx, space.OpID{}, procIngested, tuple.New(h.ref))
	return err
}

// Reserved is parts of a subject that must not be issued again: they are leased, or a
// result of them waits or is held.
type Reserved struct {
	Subject string
	Parts   []string
}

// InProgress is what a manager excludes from its selection. Its zero value stands for spaces in which nothing is
// leased and nothing was ever ingested.
type InProgress struct {
	Reserved []Reserved
	ingested int64 // results, before the first of Reserved was read
}

// InProgress returns what a manager must not select. A manager calls it before it selects from the catalog, because
// every result that was ingested before the call is already in the catalog. It reads pages until the last one; it
// takes the count of ingested results from the first page, so that Issue refuses a selection if one was ingested
// meanwhile. It fails with fault.ErrCorrupt if an answer cannot be decoded.
func (c Client) InProgress(ctx context.Context, action string) (InProgress, error) {
	var all InProgress
	for first, after := true, int64(0); first || after != 0; first = false {
		reply, err := c.Repo.Call(ctx, space.OpID{}, procInProgress, tuple.New(action, after))
		if err != nil {
			return InProgress{}, err
		}
		page, reserved, err := decodeInProgress(reply)
		if err != nil {
			return InProgress{}, err
		}
		if first {
			all.ingested = page.ingested
		}
		after = page.after
		all.Reserved = append(all.Reserved, reserved...)
	}
	return all, nil
}
