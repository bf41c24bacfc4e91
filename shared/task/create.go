package task

import (
	"fmt"
	"strconv"
	"time"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
)

// Spec is a task to be.
type Spec struct {
	models.Task // Action, Subject, Parts, Data and Timeout count
	Lease       string
	Token       int64 // the lease's; 0: a new one
	Priority    int64
	TTL         time.Duration // in the queue; 0: for ever
	Expiry      string        // procedure at the end of the TTL
}

// Create puts a task into the queue.
func Create(tx space.Tx, s Spec) (Item, error) {
	if s.Action == "" || s.Timeout <= 0 {
		return Item{}, fmt.Errorf("task.Create: %w: an action and a timeout are wanted; got %q and %vs", fault.ErrInvalid, s.Action, s.Timeout)
	}
	number := tx.NextToken()
	if s.Token == 0 {
		s.Token = number
	}
	i := Item{Task: s.Task, Lease: s.Lease, Token: s.Token, Priority: s.Priority}
	i.ID = "t" + strconv.FormatInt(number, 10)
	i.CreatedAt = tx.Now()
	t, err := Encode(i)
	if err != nil {
		return Item{}, err
	}
	_, err = tx.Put(Space, t, space.PutOptions{TTL: s.TTL, Expiry: s.Expiry})
	return i, err
}
