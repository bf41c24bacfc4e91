package task

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// MaxOutcomes bounds the attempts that one call ends.
const MaxOutcomes = 64

// Outcome is how an attempt of a worker ended. ToResolve, ToRelease and ToHandBack make one.
type Outcome struct {
	id        string
	procedure string
	args      tuple.Tuple
	err       error // why it cannot be sent
}

// ToResolve is the outcome of Client.Report with a final result. If the result cannot be JSON, Next
// returns fault.ErrInvalid.
func ToResolve(i Item, part string, result any) Outcome {
	args, err := reportArgs(i, part, true, result)
	return Outcome{i.ID, procReport, args, err}
}

// ToRelease is the outcome of Client.Fail.
func ToRelease(i Item, f Failure) Outcome {
	return Outcome{i.ID, procRelease, failureArgs(i, f), nil}
}

// ToHandBack is the outcome of Client.HandBackFor.
func ToHandBack(i Item, delay time.Duration) Outcome {
	return Outcome{i.ID, procHandBack, handBackArgs(i, delay), nil}
}

// Next ends attempts, at most MaxOutcomes, and then claims up to n tasks of the actions that need not be waited for:
// all in one call and one transaction. It claims fewer if the caller still has tasks because their outcomes were
// refused. n may be 0.
//
// Each outcome has its own error, as from the verb it stands for; a refused one changes nothing and leaves the others
// as they are. If Next itself fails, no outcome has an effect, with these exceptions: if it returns refused too, only
// the claimed tasks could not be read; if it returns fault.ErrCorrupt alone, the whole answer could not; with
// fault.ErrUnavailable or the error of ctx, it is not known. Other errors are fault.ErrInvalid for an outcome or a
// number out of range, fault.ErrTooLarge for outcomes that do not fit into one call, and fault.ErrOverloaded if a
// space is full.
func (c Client) Next(ctx context.Context, outcomes []Outcome, n int, actions ...string) (refused []error, claimed []ClaimedTask, err error) {
	var ends []byte
	for _, o := range outcomes {
		if o.err != nil {
			return nil, nil, o.err
		}
		ends = o.encode().Append(ends)
	}
	if len(ends) > maxAnswer {
		return nil, nil, fmt.Errorf("%d outcomes: %w: they have %d bytes, at most %d in one call", len(outcomes), fault.ErrTooLarge, len(ends), maxAnswer)
	}
	args := tuple.New(ends, int64(n))
	for _, a := range actions {
		args = append(args, a)
	}
	reply, err := c.call(ctx, procNext, args)
	if err != nil {
		return nil, nil, err
	}
	refused, items, err := decodeNext(reply, len(outcomes))
	if err == nil {
		claimed, err = decodeItems(items)
	}
	return refused, claimed, err
}

// next (outcomes, number, action…) calls the procedure of each outcome, and then holds up to
// number tasks of the actions, as claim does, but without waiting. It returns the errors of the
// outcomes, and the tasks.
//
// Nothing is changed if it returns an error. If a full space refuses an outcome, it returns fault.ErrOverloaded, and
// the caller repeats the call. Any other error of an outcome is in the answer.
func (p Policy) next(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	outcomes, wanted, err := parseNext(args)
	if err != nil {
		return nil, err
	}
	var answers []byte
	for _, o := range outcomes {
		reply, err := tx.Call(o.procedure, o.args)
		if errors.Is(err, fault.ErrOverloaded) {
			return nil, err
		}
		if o.procedure == procReport && err == nil && !isCurrent(reply) {
			err = fmt.Errorf("report of task %.200q: %w", o.id, fault.ErrStaleToken)
		}
		if err != nil && !errors.Is(err, fault.ErrStaleToken) {
			wanted.number-- // the caller still has the task
		}
		answers = encodeRefusal(err).Append(answers)
	}
	claimed, _, err := p.claimReady(tx, wanted, maxAnswer-len(answers))
	if err != nil {
		return nil, err
	}
	return tuple.New(answers, claimed), nil
}

// refusal is the error of one outcome. Its text names the kind already.
type refusal struct {
	kind error
	text string
}

func (r refusal) Error() string { return r.text }
func (r refusal) Unwrap() error { return r.kind }
