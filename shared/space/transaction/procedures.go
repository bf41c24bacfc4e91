package transaction

import (
	"errors"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

const (
	procRun   = "transaction.run"
	procApply = "transaction.apply"
)

// protocol has the spaces that transactions may only query.
type protocol struct{ queryOnly map[string]bool }

// Procedures returns transaction.run (waits, operations), and transaction.apply (operations),
// which it calls. Transactions only query the named spaces, because their tuples belong to other
// protocols.
func Procedures(queryOnly ...string) space.Procedures {
	p := protocol{map[string]bool{}}
	for _, name := range queryOnly {
		p.queryOnly[name] = true
	}
	return space.Procedures{procRun: space.WithArgs(runArgs, run), procApply: space.WithArgs(applyArgs, p.apply)}
}

// unmet is the error of apply if a condition does not hold.
type unmet struct {
	index int // of the operation
	op    Op
}

func (u *unmet) Error() string { return fmt.Sprintf("operation %d, %s: %v", u.index+1, u.op, ErrUnmet) }

func (u *unmet) Unwrap() error { return ErrUnmet }

// run (waits, operations) calls apply as a procedure of its own, so that its effects are undone if a condition does
// not hold. If waits is set, it waits for a matching tuple then; otherwise, and for a condition that a tuple is
// absent, it answers which condition does not hold. No put can make a tuple absent, so nothing would wake a wait for
// that.
func run(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	waits, data := decodeRun(args)
	reply, err := tx.Call(procApply, tuple.New(data))
	var u *unmet
	switch {
	case !errors.As(err, &u): // it has happened, or failed for another reason
		return reply, err
	case waits && u.op.Kind != KindAbsent:
		return nil, tx.Wait(space.Awaited{Space: u.op.Space, Template: u.op.Template})
	}
	return encodeUnmet(u.index), nil
}

// apply (operations) carries out the operations in order, and returns the tuples that they found, one for each. If a
// condition does not hold, it returns unmet. Found tuples may have at most MaxBytes together.
func (p protocol) apply(tx space.Tx, args tuple.Tuple) (tuple.Tuple, error) {
	ops, err := decodeOps(decodeApply(args))
	if err != nil {
		return nil, err
	}
	var found []byte
	for i, op := range ops {
		t, err := p.applyOp(tx, i, op)
		if err == nil && len(found)+t.Size() > MaxBytes {
			err = fmt.Errorf("the tuples found have more than %d bytes: %w", MaxBytes, fault.ErrTooLarge)
		}
		if err != nil {
			return nil, fmt.Errorf("operation %d of %d, %s: %w", i+1, len(ops), op, err)
		}
		found = t.Append(found)
	}
	return encodeFound(found), nil
}

// applyOp carries out the operation with that index, and returns the tuple that it finds: nil for KindAbsent and
// KindPut. If its condition does not hold, it returns unmet.
func (p protocol) applyOp(tx space.Tx, index int, op Op) (tuple.Tuple, error) {
	switch {
	case !tx.Exists(op.Space):
		return nil, fmt.Errorf("space %.100q: %w", op.Space, fault.ErrNotFound)
	case p.queryOnly[op.Space] && op.Kind != KindQuery && op.Kind != KindAbsent:
		return nil, fmt.Errorf("transactions can only query this space: %w", fault.ErrForbidden)
	case op.Kind == KindPut:
		_, err := tx.Put(op.Space, op.Tuple, space.PutOptions{TTL: op.TTL})
		return nil, err
	}
	e, found := tx.Find(op.Space, op.Template, nil)
	if wantsNone := op.Kind == KindAbsent; found == wantsNone {
		return nil, &unmet{index, op}
	}
	switch op.Kind {
	case KindGet:
		return e.Tuple, tx.Take(e.Ref)
	case KindRenew:
		return e.Tuple, tx.Extend(e.Ref, op.TTL)
	}
	return e.Tuple, nil
}

// Operations returns the operations of a call of transaction.run or transaction.apply with these arguments. It fails
// with fault.ErrInvalid for arguments that no caller sends.
func Operations(args tuple.Tuple) ([]Op, error) {
	switch {
	case runArgs.Matches(args):
		_, data := decodeRun(args)
		return decodeOps(data)
	case applyArgs.Matches(args):
		return decodeOps(decodeApply(args))
	}
	return nil, fmt.Errorf("%w: arguments of a transaction that are not operations", fault.ErrInvalid)
}
