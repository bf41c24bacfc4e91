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
	create    []New
	output    string // the last lines that an attempt printed that is resolved
	err       error  // why it cannot be sent
}

// ToResolve is the outcome of Client.Report with a final result, or of Client.Resolve if it creates tasks. If the
// result cannot be JSON, or the tasks cannot be encoded, Next returns fault.ErrInvalid.
func ToResolve(i Item, part string, result any, create ...New) Outcome {
	args, err := reportArgs(i, part, true, result)
	return Outcome{id: i.ID, procedure: procReport, args: args, create: create, err: err}
}

// WithOutput returns an outcome of ToResolve that keeps the last lines that the attempt printed with the end of the
// task: at most 2 KiB of output.
func (o Outcome) WithOutput(output string) Outcome {
	o.output = output
	return o
}

// ToRelease is the outcome of Client.Fail.
func ToRelease(i Item, f Failure) Outcome {
	return Outcome{id: i.ID, procedure: procRelease, args: failureArgs(i, f)}
}

// ToHandBack is the outcome of Client.HandBackFor.
func ToHandBack(i Item, delay time.Duration) Outcome {
	return Outcome{id: i.ID, procedure: procHandBack, args: handBackArgs(i, delay)}
}

// Ended is what became of an Outcome.
type Ended struct {
	Err     error  // why it was refused, so that it changed nothing; nil: it was not
	Created []Item // the tasks that it created, in their order
}

// withCreated returns the outcome with the tasks that it creates in its arguments. The ends of parents that only the
// history knows go with them.
func (c Client) withCreated(ctx context.Context, o Outcome) (Outcome, error) {
	if o.err != nil {
		return o, o.err
	}
	if len(o.create) == 0 {
		o.args = withOutput(o.args, o.output)
		return o, nil
	}
	news := withDefaults(o.create)
	if known, found := c.withEnded(ctx, news); found {
		news = known
	}
	data, err := encodeNews(news)
	o.args = withOutput(append(o.args.Clone(), data), o.output)
	return o, err
}

// Next ends attempts, at most MaxOutcomes, and then claims up to n tasks of the actions that need not be waited for:
// all in one call and one transaction. It claims fewer if the caller still has tasks because their outcomes were
// refused. n may be 0.
//
// Each outcome has its own error, as from the verb it stands for; a refused one changes nothing and leaves the others
// as they are. If Next itself fails, no outcome has an effect, with these exceptions: if it returns ends too, only
// the claimed tasks could not be read; if it returns fault.ErrCorrupt alone, the whole answer could not; with
// fault.ErrUnavailable or the error of ctx, it is not known. Other errors are fault.ErrInvalid for an outcome or a
// number out of range, fault.ErrTooLarge for outcomes that do not fit into one call, and fault.ErrOverloaded if a
// space is full.
func (c Client) Next(ctx context.Context, outcomes []Outcome, n int, actions ...string) (ends []Ended, claimed []ClaimedTask, err error) {
	var data []byte
	for _, o := range outcomes {
		if o, err = c.withCreated(ctx, o); err != nil {
			return nil, nil, err
		}
		data = o.encode().Append(data)
	}
	if len(data) > maxAnswer {
		return nil, nil, fmt.Errorf("%d outcomes: %w: they have %d bytes, at most %d in one call", len(outcomes), fault.ErrTooLarge, len(data), maxAnswer)
	}
	args := tuple.New(data, int64(n))
	for _, a := range actions {
		args = append(args, a)
	}
	reply, err := c.call(ctx, procNext, args)
	if err != nil {
		return nil, nil, err
	}
	ends, items, err := decodeNext(reply, len(outcomes))
	if err == nil {
		claimed, err = decodeItems(items)
	}
	return ends, claimed, err
}

// WithoutClaims returns an answer of task.next (ends, claimed tasks) as if no task had been claimed. It is for a
// caller that handed the claimed tasks back because it could not pass the answer on.
func WithoutClaims(reply tuple.Tuple) tuple.Tuple {
	return tuple.New(blobOf(reply), []byte(nil))
}

// next (outcomes, number, action…) calls the procedure of each outcome, and then holds up to
// number tasks of the actions, as claim does, but without waiting. It returns the errors of the
// outcomes with the tasks that they created, and the claimed tasks.
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
		answers = encodeEnded(err, reply).Append(answers)
	}
	if len(answers) > maxAnswer/2 { // there are many created tasks, and the answer may be too large with a claimed one
		wanted.number = 0
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
