package api

import (
	"context"
	"errors"
	"fmt"

	"leasehold/coordinator/permission"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/fault"
	"leasehold/shared/space/transaction"
)

// transact carries out operations on several spaces, all or none, and returns the tuples that they found, in the
// order of the operations. If a condition does not hold within the time that the request may wait. An invalid
// operation (fault.ErrInvalid) is named with its position from 1.
func (s *server) transact(ctx context.Context, _ *request, b types.Transaction) (types.Transacted, error) {
	timeout, err := seconds("wait_s", b.Wait, maxWait)
	if err != nil {
		return types.Transacted{}, err
	}
	var ops []transaction.Op
	for i, o := range b.Operations {
		op, err := parseOperation(o)
		if err != nil {
			return types.Transacted{}, fmt.Errorf("operation %d of %d: %w", i+1, len(b.Operations), err)
		}
		if err := permission.Operation(access.Of(ctx), op); err != nil {
			return types.Transacted{}, fmt.Errorf("operation %d of %d: %w", i+1, len(b.Operations), err)
		}
		ops = append(ops, op)
	}
	client := transaction.Client{Repo: s.repo}
	found, err := client.RunP(ctx, ops...)
	if unmet := err; errors.Is(unmet, transaction.ErrUnmet) && timeout > 0 {
		err = waitFor(ctx, timeout, func(ctx context.Context) (err error) {
			found, err = client.Run(ctx, ops...)
			return err
		})
		if errors.Is(err, context.DeadlineExceeded) {
			err = unmet
		}
	}
	answer := types.Transacted{Tuples: []types.Tuple{}}
	for _, t := range found {
		answer.Tuples = append(answer.Tuples, showTuple(t))
	}
	return answer, err
}

// parseOperation reads an operation. An unknown kind, and fields that its kind does not have, give
// fault.ErrInvalid.
func parseOperation(o types.Operation) (op transaction.Op, err error) {
	op.Space = o.Space
	if op.Kind, err = transaction.ParseKind(o.Kind); err != nil {
		return op, err
	}
	isPut, hasTTL := op.Kind == transaction.KindPut, op.Kind == transaction.KindPut || op.Kind == transaction.KindRenew
	switch {
	case isPut && o.Template != "":
		return op, fmt.Errorf("%s: %w: want a tuple, not a template", o.Kind, fault.ErrInvalid)
	case !isPut && o.Tuple != "":
		return op, fmt.Errorf("%s: %w: want a template, not a tuple", o.Kind, fault.ErrInvalid)
	case !hasTTL && o.TTL != 0:
		return op, fmt.Errorf("%s: %w: ttl_s is only accepted by put and renew", o.Kind, fault.ErrInvalid)
	}
	if op.TTL, err = seconds("ttl_s", o.TTL, maxTTL); err != nil {
		return op, err
	}
	if !isPut {
		op.Template, err = parseWhole(o.Template)
		return op, err
	}
	op.Tuple, err = parseTuple(o.Tuple)
	return op, err
}
