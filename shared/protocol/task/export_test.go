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

// MaxChildren is the bound of the children of a task.
const MaxChildren = maxChildren

// AddChildren returns a procedure (id) that puts MaxChildren-1 tuples that count as children of a
// task.
func AddChildren() space.Procedure {
	return space.WithArgs1(func(tx space.Tx, id string) (tuple.Tuple, error) {
		o := space.PutOptions{Attributes: space.Attributes{Labels: []string{childLabel(id)}}}
		for range MaxChildren - 1 {
			if _, err := tx.Put(Dead, tuple.New("child"), o); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

// Forgive is a procedure that lets the claimants of all visible tasks claim them again.
func Forgive(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	for _, e := range tx.Scan(Space, Any()) {
		i, err := DecodeEntry(e)
		if err != nil {
			return nil, err
		}
		i.forgiven, i.Hosts = len(i.Claimants), nil
		if err := rewrite(tx, e, i, e.Turn); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// Damage makes the record of a task unreadable.
func Damage(tx space.Tx, id string) error {
	e, _, err := find(tx, id)
	if err != nil {
		return err
	}
	return tx.Amend(e.Ref, nil, space.Attributes{Fields: "\xff", Labels: e.Labels, Turn: e.Turn})
}

// MaxEndedData is how large the data of a task may be to be kept after its end.
const MaxEndedData = maxEndedData
