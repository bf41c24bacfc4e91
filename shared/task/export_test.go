package task

import (
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// WithdrawTask returns a procedure (id) that withdraws a visible task.
func WithdrawTask(p Policy) space.Procedure {
	return space.WithArgs1(func(tx space.Tx, id string) (tuple.Tuple, error) {
		e, _, err := find(tx, id)
		if err != nil {
			return nil, err
		}
		return nil, p.Withdraw(tx, e, "withdrawn")
	})
}

// Forgive is a procedure that removes the claimants of all visible tasks.
func Forgive(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	for _, e := range tx.Scan(Space, Any()) {
		i, err := DecodeEntry(e)
		if err != nil {
			return nil, err
		}
		i.Claimants, i.Hosts = nil, nil
		if err := rewrite(tx, e, i, e.Turn); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
