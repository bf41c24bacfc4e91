package task

import (
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// New is a task to create, without a lease.
type New struct {
	// Only Action, Subject, Data, Timeout and the options are used. Each of After is the Ref of another task of the
	// same request, or the id of an existing task.
	models.Task
	Priority   int64
	Ref        string // name within the request; may be empty
	OnConflict string // KeepFirst or Replace; empty: KeepFirst
	// Ended are parents that have ended and that the spaces no longer know.
	Ended []ParentResult
}

// What becomes of a new task whose unique key is taken.
const (
	KeepFirst = "keep"    // the first task stays as it is, and is the answer
	Replace   = "replace" // the first task gets its data and time; if it is claimed, one task follows it
)

func (n New) encode() tuple.Tuple {
	t, record := EncodeNew(Item{Task: n.Task, Priority: n.Priority})
	var ended []byte
	for _, r := range n.Ended {
		ended = r.encode().Append(ended)
	}
	return tuple.New(t, record, n.Ref, n.OnConflict, ended)
}

var newTemplate = tuple.Match(tuple.Formal{Type: tuple.Nested}, tuple.AnyString, tuple.AnyString, tuple.AnyString, tuple.Formal{Type: tuple.Bytes})

func encodeNews(all []New) ([]byte, error) {
	var data []byte
	for _, n := range all {
		if err := validData(n.Data); err != nil {
			return nil, err
		}
		if err := checkEncodable(n.TaskOptions); err != nil {
			return nil, err
		}
		data = n.encode().Append(data)
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("%d tasks: %w: they have %d bytes, at most %d in one request", len(all), fault.ErrTooLarge, len(data), maxAnswer)
	}
	return data, nil
}

// item returns the task to create, without the fields of n that only the protocol sets.
func (n New) item() Item {
	return Item{Priority: n.Priority, Task: models.Task{
		Action: n.Action, Subject: n.Subject, Data: n.Data, Timeout: n.Timeout, TaskOptions: n.TaskOptions,
	}}
}

// EncodeNew returns the tuple and the record of a task that a session wants to create.
func EncodeNew(i Item) (t tuple.Tuple, record string) {
	return plainTuple(i), encodeRecord(i)
}

// DecodeNew is the inverse of EncodeNew. It fails with fault.ErrInvalid for a tuple or a record of another form.
func DecodeNew(t tuple.Tuple, record string) (Item, error) {
	if !anyTask.Matches(t) {
		return Item{}, fmt.Errorf("%w: want a task", fault.ErrInvalid)
	}
	i, err := decodeTask(t, record)
	if err != nil {
		return Item{}, fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return i, nil
}

// WithKey returns the id of the live task that has a unique key, and reports whether there is one.
func WithKey(tx space.Tx, key string) (id string, alive bool) {
	e, alive := first(tx, keyLabel(key))
	return decodeHeader(e.Tuple).ID, alive
}
