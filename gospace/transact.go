package gospace

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/transaction"
	"leasehold/shared/tuple"
)

// ErrUnmet is the error of Transact, TransactP and PutIfAbsent if a condition does not hold.
var ErrUnmet = transaction.ErrUnmet

// SpaceOp is one operation of a transaction.
type SpaceOp struct {
	space    *Space
	op       transaction.Op
	template []interface{} // whose pointers get the values of the match
	put      []interface{}
	err      error
}

// OpGet takes the oldest match. The condition is that there is one.
func (s *Space) OpGet(template ...interface{}) SpaceOp {
	return s.matching(transaction.KindGet, template)
}

// OpQuery returns the oldest match. The condition is that there is one.
func (s *Space) OpQuery(template ...interface{}) SpaceOp {
	return s.matching(transaction.KindQuery, template)
}

// OpAbsent has the condition that no tuple matches.
func (s *Space) OpAbsent(template ...interface{}) SpaceOp {
	return s.matching(transaction.KindAbsent, template)
}

// OpRenew starts the time to live of the oldest match again, with the handle's TTL (WithTTL). The condition is that
// there is a match.
func (s *Space) OpRenew(template ...interface{}) SpaceOp {
	return s.matching(transaction.KindRenew, template)
}

// OpPut adds a tuple. If the space is full, the transaction does not wait and fails with fault.ErrOverloaded.
func (s *Space) OpPut(fields ...interface{}) SpaceOp {
	o := s.operation(transaction.KindPut)
	if o.err == nil {
		o.put, o.err = dereferenced(fields)
	}
	if o.err == nil {
		o.op.Tuple, o.err = encodeTuple(o.put)
	}
	return o
}

// matching returns an operation on the first match of a template. Its pointers get the values of
// the match, unless the condition is that there is none.
func (s *Space) matching(kind transaction.Kind, template []interface{}) SpaceOp {
	o := s.operation(kind)
	if o.err == nil {
		o.op.Template, o.err = encodeTemplate(template)
	}
	if kind != transaction.KindAbsent && o.err == nil && !s.unbound {
		o.template = template
	}
	return o
}

// operation returns an operation without its tuple or template. An error of the handle is one of
// the operation, which checkOps returns.
func (s *Space) operation(kind transaction.Kind) SpaceOp {
	if s == nil || s.connection == nil {
		return SpaceOp{err: errNoSpace}
	}
	return SpaceOp{space: s, op: transaction.Op{Kind: kind, Space: s.name, TTL: s.ttl}, err: s.err}
}

// Transact carries out operations on several spaces, all or none, in order; each sees the effects of those before it.
// It waits until there is a match for each OpGet, OpQuery and OpRenew; an OpAbsent that does not hold fails with
// ErrUnmet at once. It returns one tuple for each operation, and stores the values of matches through the pointers of
// their templates. The spaces must be of one program: all with a name alone, or all of one address. There are at most
// 64 operations. The context and timeout come from the first handle, the bindings from each.
func Transact(ops ...SpaceOp) ([]Tuple, error) { return transact(waiting, ops) }

// TransactP is Transact, but does not wait: for a missing match it returns ErrUnmet.
func TransactP(ops ...SpaceOp) ([]Tuple, error) { return transact(atOnce, ops) }

// transact carries out the operations with the session of the first space, and if waits is true
// waits for their matches. The other spaces are opened before, which makes them; they must be of the
// same program, so that one session reaches them.
func transact(waits bool, ops []SpaceOp) ([]Tuple, error) {
	list, err := checkOps(ops)
	if err != nil {
		return nil, failure(err)
	}
	var found []tuple.Tuple
	err = ops[0].space.call(waits, func(ctx context.Context, repo space.Repository) (err error) {
		for _, o := range ops[1:] {
			if _, err := o.space.open(ctx); err != nil { // which makes the space
				return err
			}
		}
		client := transaction.Client{Repo: repo}
		if waits {
			found, err = client.Run(ctx, list...)
		} else {
			found, err = client.RunP(ctx, list...)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make([]Tuple, len(ops))
	for i, o := range ops {
		all[i] = Tuple{o.put}
		if o.op.Kind != transaction.KindPut {
			all[i] = decodeTuple(found[i])
		}
		bind(o.template, all[i].Flds)
	}
	return all, nil
}

// checkOps returns the operations of a transaction, or the first error in one of them.
func checkOps(ops []SpaceOp) ([]transaction.Op, error) {
	if len(ops) == 0 {
		return nil, invalid("a transaction without operations")
	}
	list := make([]transaction.Op, len(ops))
	for i, o := range ops {
		err := o.err
		if err == nil && o.space == nil {
			err = errNoSpace
		}
		if err == nil && o.space.program() != ops[0].space.program() {
			err = fmt.Errorf("space %s is of %s, and space %s of %s: want spaces of one program: %w",
				o.space.name, o.space.program(), ops[0].space.name, ops[0].space.program(), fault.ErrInvalid)
		}
		if err != nil {
			return nil, fmt.Errorf("operation %d of %d: %w", i+1, len(ops), err)
		}
		list[i] = o.op
	}
	return list, nil
}

// PutIfAbsent adds a tuple and returns it, if no tuple of the space matches a template (CreateTemplate); otherwise it
// returns ErrUnmet. If several callers try at once, one succeeds.
func (s *Space) PutIfAbsent(unless Template, fields ...interface{}) (Tuple, error) {
	all, err := TransactP(s.OpAbsent(unless.Flds...), s.OpPut(fields...))
	if err != nil {
		return noTuple(), err
	}
	return all[1], nil
}
