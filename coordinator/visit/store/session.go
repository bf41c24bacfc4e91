package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"leasehold/shared/fault"
)

// background is what statements run under: an interrupted one would cost the
// connection, and with it the lock on the file.
var background = context.Background()

// use runs f once it is this caller's turn.
func (s *Store) use(ctx context.Context, op string, f func() error) error {
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	case <-s.turn:
	}
	defer func() { s.turn <- struct{}{} }()
	if s.closed {
		return fmt.Errorf("%s: the store of visits is %w", op, fault.ErrClosed)
	}
	if err := f(); err != nil {
		return fmt.Errorf("%s: %w", op, classify(err))
	}
	return nil
}

// change is use in one transaction. What f notes in memory counts once it is on
// disk.
func (s *Store) change(ctx context.Context, op string, f func() error) error {
	return s.use(ctx, op, func() error {
		s.state.pending = pending{}
		if err := s.transaction(f); err != nil {
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

func (s *Store) transaction(f func() error) error {
	if err := s.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			_ = s.text("ROLLBACK") // fails if SQLite has rolled back itself
		}
	}()
	if err := f(); err != nil {
		return err
	}
	if err := s.exec("COMMIT"); err != nil {
		return err
	}
	done = true
	return nil
}

// text runs what is not worth a prepared statement.
func (s *Store) text(query string) error {
	_, err := s.conn.ExecContext(background, query)
	return err
}

func (s *Store) prepare(query string) (*sql.Stmt, error) {
	if st, ok := s.stmts[query]; ok {
		return st, nil
	}
	st, err := s.conn.PrepareContext(background, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	s.stmts[query] = st
	return st, nil
}

func (s *Store) exec(query string, args ...any) error {
	st, err := s.prepare(query)
	if err != nil {
		return err
	}
	_, err = st.ExecContext(background, args...)
	return err
}

type scanner interface{ Scan(...any) error }

// one reads the first row; false says that there is none.
func (s *Store) one(query string, args []any, to ...any) (bool, error) {
	st, err := s.prepare(query)
	if err != nil {
		return false, err
	}
	err = st.QueryRowContext(background, args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// all reads every row.
func (s *Store) all(query string, args []any, scan func(scanner) error) error {
	st, err := s.prepare(query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(background, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
