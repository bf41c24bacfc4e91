package task

import (
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
	Token   int64  // of the attempt; 0 moves no lease
	Worker  string // empty: the failure of a dead task
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

// Put puts a result; fault.ErrTooLarge refuses one that no answer could carry.
func (o Outcome) Put(tx space.Tx) error {
	if len(o.Body) > maxResult {
		return fmt.Errorf("result of %s %s: %w: a body of %d bytes, at most %d", o.Action, o.Subject, fault.ErrTooLarge, len(o.Body), maxResult)
	}
	_, err := tx.Put(Result, EncodeResult(o), space.PutOptions{})
	return err
}
