package postgres

import (
	"context"
	"math"

	"github.com/jackc/pgx/v5"
)

// Fold folds the log at once. It ends after a number of steps, as if the process were killed; with a negative
// number it makes all. It returns the number of steps that there are.
func (j *Journal) Fold(ctx context.Context, steps int) (all int, err error) {
	f, err := j.readFold(ctx)
	if err != nil {
		return 0, err
	}
	if steps < 0 {
		steps = math.MaxInt
	}
	for _, step := range f.steps[:min(steps, len(f.steps))] {
		if err := j.fenced(ctx, func(tx pgx.Tx) error { return step(ctx, tx) }); err != nil {
			return 0, err
		}
	}
	return len(f.steps), nil
}

// FoldAll folds the log as the background does.
func (j *Journal) FoldAll(ctx context.Context) error { return j.fold(ctx) }

// Rows counts the rows of a table.
func (j *Journal) Rows(ctx context.Context, table string) (n int, err error) {
	err = j.pool.QueryRow(ctx, "SELECT count(*) FROM "+table).Scan(&n)
	return n, err
}

// Exec runs a statement with the settings of the journal.
func (j *Journal) Exec(ctx context.Context, sql string, args ...any) error {
	_, err := j.pool.Exec(ctx, sql, args...)
	return err
}

// Freeze keeps the owner from committing, renewing and reading until thaw is called.
func (j *Journal) Freeze() (thaw func()) {
	j.turn <- struct{}{}
	return func() { <-j.turn }
}

// Lock begins a transaction with a statement.
func (j *Journal) Lock(ctx context.Context, sql string) (commit func(context.Context) error, err error) {
	tx, err := j.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, sql)
	return tx.Commit, err
}

// SetWriter runs a statement on the connection of the owner.
func (j *Journal) SetWriter(ctx context.Context, sql string) error {
	_, err := j.writer.conn.Exec(ctx, sql)
	return err
}
