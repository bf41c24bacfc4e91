package task

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/lease"
	"leasehold/shared/space"
)

// Spec describes a task to create.
type Spec struct {
	models.Task // only Action, Subject, Parts, Data and Timeout are used
	Lease       string
	Token       int64 // the lease's; 0: a new one
	Priority    int64
	TTL         time.Duration // in the queue; 0: for ever
	Expiry      string        // procedure at the end of the TTL
}

func (s Spec) check() error {
	switch {
	case !models.ValidID(s.Action):
		return fmt.Errorf("%w: action %q: %s", fault.ErrInvalid, s.Action, models.IDRule)
	case !validTimeout(s.Timeout):
		return fmt.Errorf("%w: timeout %vs: want more than 0 and at most %s", fault.ErrInvalid, s.Timeout, lease.MaxTTL)
	}
	return nil
}

// Create puts a task into the queue. A body over maxBody is fault.ErrTooLarge, because
// the task's history must still fit into the tuple.
func Create(tx space.Tx, s Spec) (Item, error) {
	if err := s.check(); err != nil {
		return Item{}, fmt.Errorf("task.Create: %w", err)
	}
	number := tx.NextToken()
	if s.Token == 0 {
		s.Token = number
	}
	i := Item{Lease: s.Lease, Token: s.Token, Priority: s.Priority, Task: models.Task{
		ID: "t" + strconv.FormatInt(number, 10), Action: s.Action, Subject: s.Subject,
		Parts: slices.Compact(slices.Sorted(slices.Values(s.Parts))), Data: s.Data, Timeout: s.Timeout,
		QueueTTL: models.SecondsOf(s.TTL), CreatedAt: tx.Now(),
	}}
	t, err := Encode(i)
	if err != nil {
		return Item{}, fmt.Errorf("task.Create: %w", err)
	}
	if size := len(decodeHeader(t).body); size > maxBody {
		return Item{}, fmt.Errorf("task.Create: %w: a body of %d bytes, at most %d", fault.ErrTooLarge, size, maxBody)
	}
	_, err = tx.Put(Space, t, space.PutOptions{TTL: s.TTL, Expiry: s.Expiry})
	return i, err
}
