package task

import (
	"encoding/json"
	"errors"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// checkPut refuses a task that a session puts by itself, as task.create would: a tuple without the fields of a task,
// or one that could not be done (fault.ErrInvalid, fault.ErrTooLarge), one under a lease, which only managers issue
// (fault.ErrForbidden), one with the id of a task that is alive or dead (fault.ErrConflict), and one beyond its
// action's share (fault.ErrOverloaded).
func checkPut(tx space.Tx, t tuple.Tuple) error {
	if !anyTask.Matches(t) {
		return fmt.Errorf("%w: want a task: %s", fault.ErrInvalid, anyTask)
	}
	h := decodeHeader(t)
	switch {
	case !models.ValidID(h.ID):
		return fmt.Errorf("%w: id %.200q: %s", fault.ErrInvalid, h.ID, models.IDRule)
	case h.Lease != "" || h.Token != 0:
		return fmt.Errorf("task %s: %w: only managers issue work under a lease; want an empty lease and the token 0", h.ID, fault.ErrForbidden)
	}
	i := Item{Task: models.Task{Action: h.Action, ID: h.ID, Timeout: DefaultTimeout, Data: json.RawMessage(h.body)}, Priority: h.Priority}
	if err := checkNew(i); err != nil {
		return err
	}
	if _, _, err := find(tx, h.ID); !errors.Is(err, fault.ErrNotFound) {
		return fmt.Errorf("task %s: %w: it exists", h.ID, fault.ErrConflict)
	}
	if _, _, err := findDead(tx, h.ID); !errors.Is(err, fault.ErrNotFound) {
		return fmt.Errorf("task %s: %w: it is a dead letter", h.ID, fault.ErrConflict)
	}
	return checkShare(tx, i)
}

// checkPutResult refuses a result that a session puts by itself, unless it holds the task: the tuple must have the
// token, the action and the lease of a task that it has claimed. Else the error is fault.ErrInvalid or
// fault.ErrStaleToken. Tuples without the fields of a result are accepted, because no manager takes them.
func checkPutResult(tx space.Tx, t tuple.Tuple) error {
	if !AnyResult(tuple.AnyString).Matches(t) {
		return nil
	}
	r := DecodeResult(t)
	if !json.Valid([]byte(r.Body)) {
		return fmt.Errorf("%w: the body of the result is not JSON", fault.ErrInvalid)
	}
	if _, ok := heldLike(tx, withToken(r.Action, r.Lease, r.Token)); ok {
		return nil
	}
	return fmt.Errorf("result of action %.200q with token %d: %w: this session holds no such task", r.Action, r.Token, fault.ErrStaleToken)
}
