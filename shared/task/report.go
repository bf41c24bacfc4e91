package task

import (
	"errors"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// Outcome is a result as its tuple has it.
type Outcome struct {
	Action  string
	Subject string
	Part    string // or several, joined as lease.JoinParts does
	Lease   string
	Token   int64
	Worker  string
	Final   bool
	Body    string // JSON
}

// EncodeResult returns the tuple of a result.
func EncodeResult(o Outcome) tuple.Tuple {
	return tuple.New("result", o.Action, o.Subject, o.Part, o.Lease, o.Token, o.Worker, o.Final, o.Body)
}

// DecodeResult returns the result of a tuple that AnyResult matches.
func DecodeResult(t tuple.Tuple) Outcome {
	return Outcome{
		Action: t.Str(1), Subject: t.Str(2), Part: t.Str(3), Lease: t.Str(4),
		Token: t.Int64(5), Worker: t.Str(6), Final: t.Bool(7), Body: t.Str(8),
	}
}

// AnyResult matches the results of one action.
func AnyResult(action string) tuple.Template {
	return tuple.Match("result", action, tuple.AnyString, tuple.AnyString, tuple.AnyString,
		tuple.AnyInt64, tuple.AnyString, tuple.AnyBool, tuple.AnyString)
}

// Put puts a result.
func (o Outcome) Put(tx space.Tx) error {
	_, err := tx.Put(Result, EncodeResult(o), space.PutOptions{})
	return err
}

// resultOf returns the result among the arguments of a report.
func resultOf(args tuple.Tuple) (tuple.Tuple, error) {
	if len(args) == 2 {
		if t, ok := args[1].(tuple.Tuple); ok && AnyResult(t.Str(1)).Matches(t) {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%s: %w: a task's id and a result are wanted", procReport, fault.ErrInvalid)
}

// report (id, result) puts a result of a task; a final one resolves the task,
// another lets its timeout begin anew. It answers whether the token is current:
// a late result is put all the same.
func report(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	result, err := resultOf(args)
	if err != nil {
		return nil, err
	}
	o := DecodeResult(result)
	o.Worker = tx.Caller()
	if err := o.Put(tx); err != nil {
		return nil, err
	}
	e, i, err := heldBy(tx, args.Str(0), o.Token)
	switch {
	case errors.Is(err, fault.ErrStaleToken):
		return tuple.New(false), nil
	case err != nil:
		return nil, err
	case !o.Final:
		return tuple.New(true), hold(tx, e.Ref, i)
	}
	if err := tx.Done(e.Ref); err != nil {
		return nil, err
	}
	return tuple.New(true), hideClaim(tx, i.ID)
}
