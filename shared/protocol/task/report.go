package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// report (id, result[, new tasks[, output]]) takes a result of a task. A final result resolves the task and creates the new
// tasks; any other restarts its timeout. It returns whether the token is the current one and, if it was given new
// tasks, the created ones.
//
// The result becomes a tuple only for the manager of the task's lease, or for a creator that asked for a result
// tuple. A result of a lease is put with a stale token too, because what was found is true, but creates no task.
func (p Policy) report(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	given, err := parseReport(args)
	if err != nil {
		return nil, err
	}
	r, err := decodeReport(given.result)
	if err != nil {
		return nil, err
	}
	r.Worker = tx.Caller()
	e, i, err := findHeld(tx, given.id, r.Token)
	if errors.Is(err, fault.ErrStaleToken) {
		return tuple.New(false), putLate(tx, r)
	}
	if err != nil {
		return nil, err
	}
	// A worker reports on the task that it holds and on no other.
	r.Action, r.Subject, r.Lease = i.Action, i.Subject, i.Lease
	if i.Lease != "" || i.ResultTuple {
		if _, err := r.put(tx, space.PutOptions{TTL: i.ResultTTL.Duration(), Reserve: i.Lease != ""}); err != nil {
			return nil, err
		}
	} else if err := r.check(); err != nil {
		return nil, err
	}
	if !r.Final {
		return tuple.New(true), holdUntilTimeout(tx, e.Ref, i)
	}
	return p.resolve(tx, e, i, r.Body, given)
}

// resolve ends a task with its final result, creates the tasks that were given to task.report, and returns the answer of
// that. What the attempt printed is kept with the end, in an attempt without an error. The end comes first, so that a new task may have the unique key or the limit of the old one.
// If a task cannot be created, the task is not resolved either.
func (p Policy) resolve(tx space.Tx, e space.Entry, i Item, result string, given reported) (tuple.Tuple, error) {
	var news []New
	if given.createsMore {
		var err error
		if news, err = decodeNews(given.create); err != nil {
			return nil, err
		}
		ends := append(parentEnds(tx, i), ParentResult{ID: i.ID, State: Resolved, Result: result})
		for n := range news {
			news[n].Ended = append(slices.Clone(ends), news[n].Ended...)
		}
	}
	if err := removeClaim(tx, i.ID); err != nil {
		return nil, err
	}
	if err := tx.Done(e.Ref); err != nil {
		return nil, err
	}
	if given.output != "" {
		i.History = newest(append(i.History, models.Attempt{
			Worker: i.CurrentClaimant, ClaimedAt: i.ClaimedAt, EndedAt: tx.Now(), Output: given.output,
		}), maxHistory)
		e.Tuple, e.Attributes = tupleOf(i)
	}
	if err := p.afterEnd(tx, e, i, ending{state: Resolved, result: result}); err != nil {
		return nil, err
	}
	if !given.createsMore {
		return tuple.New(true), nil
	}
	created, err := p.createAll(tx, news)
	if err != nil {
		return nil, err
	}
	return tuple.New(true, encodeItems(created)), nil
}

// putLate puts a result of a worker that does not hold the task, if it is of a lease. It keeps the token of its
// attempt, unless that token could change the lease: then the token belongs to another attempt, or to a result that
// was put before. A result without a lease is only checked. One of a visit is refused with fault.ErrForbidden, because
// it would be taken for the outcome.
func putLate(tx space.Tx, r ResultTuple) error {
	if r.Action == models.ActionVisit {
		return fmt.Errorf("%w: only the manager that holds a visit can end it", fault.ErrForbidden)
	}
	if r.Lease == "" {
		return r.check() // no manager waits for it
	}
	if _, l, err := lease.Find(tx, r.Lease); err == nil && r.Token >= l.Token {
		r.Token = 0
	}
	return r.Put(tx)
}

// Put puts a result. It fails with fault.ErrTooLarge for a body over maxResult, because no answer could carry it, and
// with fault.ErrOverloaded if the space is full.
func (r ResultTuple) Put(tx space.Tx) error {
	_, err := r.put(tx, space.PutOptions{})
	return err
}

// check refuses a body over maxResult with fault.ErrTooLarge.
func (r ResultTuple) check() error {
	if len(r.Body) > maxResult {
		return fmt.Errorf("result of %s: %w: a body of %d bytes, at most %d", strings.TrimSpace(r.Action+" "+r.Subject), fault.ErrTooLarge, len(r.Body), maxResult)
	}
	return nil
}

// put is Put with options.
func (r ResultTuple) put(tx space.Tx, o space.PutOptions) (ref int64, err error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	return tx.Put(Result, EncodeResult(r), o)
}

// extend (id, token[, fraction, text]) restarts the timeout and, with a fraction, notes the progress.
func extend(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	short := tuple.Match(tuple.AnyString, tuple.AnyInt64)
	full := append(short, tuple.Formal{Type: tuple.Float64}, tuple.AnyString)
	if !short.Matches(args) && !full.Matches(args) {
		return nil, fmt.Errorf("%w: the arguments must be %s or %s", fault.ErrInvalid, short, full)
	}
	id, token, progress := progressOf(args)
	e, i, err := findHeld(tx, id, token)
	if err != nil {
		return nil, err
	}
	if len(args) == 4 {
		if inRange := progress.Fraction >= 0 && progress.Fraction <= 1; !inRange { // NaN is not
			return nil, fmt.Errorf("progress %v: %w: want a fraction from 0 to 1", progress.Fraction, fault.ErrInvalid)
		}
		i.Progress = &models.Progress{Fraction: progress.Fraction, Text: truncate(progress.Text)}
		if err := rewrite(tx, e, i, e.Turn); err != nil {
			return nil, err
		}
	}
	return nil, holdUntilTimeout(tx, e.Ref, i)
}

// validData refuses data of a task that are not JSON in UTF-8 with fault.ErrInvalid, and data over
// maxData with fault.ErrTooLarge. Empty data are valid.
func validData(data json.RawMessage) error {
	if len(data) > maxData {
		return fmt.Errorf("%w: data of %d bytes, at most %d", fault.ErrTooLarge, len(data), maxData)
	}
	if len(data) > 0 && !(json.Valid(data) && utf8.Valid(data)) { // JSON is UTF-8, but json.Valid takes any bytes in a string
		return fmt.Errorf("%w: the data is not JSON in UTF-8", fault.ErrInvalid)
	}
	return nil
}
