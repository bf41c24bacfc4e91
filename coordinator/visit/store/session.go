package store

import (
	"context"
	"errors"

	"leasehold/shared/sqlfile"
)

type scanner = sqlfile.Row

// change is db.Change. What f notes in memory counts once it is on disk.
func (s *Store) change(ctx context.Context, op string, f func() error) error {
	return s.db.Use(ctx, op, func() error {
		s.state.pending = pending{}
		if err := s.db.Transaction(f); err != nil {
			if s.state.settled {
				return errors.Join(err, s.load()) // memory was ahead of the file
			}
			return err
		}
		s.state.settled = false
		s.state.commit()
		return nil
	})
}

// tell is change, after which whoever waits for Changed looks again.
func (s *Store) tell(ctx context.Context, op string, f func() error) error {
	err := s.change(ctx, op, f)
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return err
}
