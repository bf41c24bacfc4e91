package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/space/journal"
	"leasehold/shared/space/journal/codec"
)

// snapshot is a transaction that sees one moment of the database.
var snapshot = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}

// Load implements journal.Journal. It reads one moment of the database, while folds go on. It fails with
// journal.ErrDeposed unless this process is the owner in that moment, and with fault.ErrCorrupt for damage.
func (j *Journal) Load(ctx context.Context, restore func(journal.Fact) error) (journal.Standing, error) {
	done, err := j.take(ctx)
	if err != nil {
		return journal.Standing{}, err
	}
	at := j.owned.standing.Position
	done() // because the owner renews its epoch meanwhile
	var standing journal.Standing
	var failed error // of restore
	err = pgx.BeginTxFunc(ctx, j.pool, snapshot, func(tx pgx.Tx) (err error) {
		if standing, err = j.standingOf(ctx, tx, at); err != nil {
			return err
		}
		return restoreAll(ctx, tx, func(f journal.Fact) error {
			failed = restore(f)
			return failed
		})
	})
	if failed != nil {
		return journal.Standing{}, failed
	}
	if err != nil {
		return journal.Standing{}, j.deposedBy(j.named(err))
	}
	return standing, nil
}

// deposedBy ends the journal if err is journal.ErrDeposed of an owner, and returns err.
func (j *Journal) deposedBy(err error) error {
	if j.epoch.Load() > 0 && isDeposed(err) {
		return j.end(err)
	}
	return err
}

// standingOf returns where the journal stands, if it is where the owner left it.
func (j *Journal) standingOf(ctx context.Context, tx pgx.Tx, at journal.Position) (s journal.Standing, err error) {
	var epoch uint64
	if err := tx.QueryRow(ctx, "SELECT epoch, position, clock, ref FROM realm").Scan(&epoch, &s.Position, &s.Clock, &s.Ref); err != nil {
		return s, err
	}
	if mine := j.epoch.Load(); mine == 0 || epoch != mine || s.Position != at {
		return s, fmt.Errorf("%w: it stands at epoch %d and position %d; this one is at epoch %d and position %d", journal.ErrDeposed, epoch, s.Position, mine, at)
	}
	return s, nil
}

// restoreAll passes the facts of the tables fact and log to restore: first those of fact that the log does not
// change, then those of the log.
func restoreAll(ctx context.Context, tx pgx.Tx, restore func(journal.Fact) error) error {
	m, names := newMerged(), codec.Names{}
	err := eachRow(ctx, tx, "SELECT records FROM log ORDER BY position", func(values [][]byte) error {
		return m.add(append([]byte(nil), values[0]...))
	})
	if err != nil {
		return err
	}
	pass := func(key, value []byte) error {
		f, err := codec.Decode(key, value, names)
		if err == nil && f != nil {
			err = restore(f)
		}
		return err
	}
	err = eachRow(ctx, tx, "SELECT key, value FROM fact", func(values [][]byte) error {
		if m.replaces(values[0]) {
			return nil
		}
		return pass(values[0], values[1])
	})
	if err != nil {
		return err
	}
	for key, c := range m.changes {
		if !m.holds(key) {
			continue
		}
		if err := pass([]byte(key), c.value); err != nil {
			return err
		}
	}
	return nil
}

// eachRow calls do with the columns of each row, which must be bytea; they are valid during the call. An error of do
// ends it and is returned.
func eachRow(ctx context.Context, tx pgx.Tx, sql string, do func(values [][]byte) error) error {
	rows, err := tx.Query(ctx, sql) // prepared, so columns are in binary form
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows.RawValues()); err != nil {
			return err
		}
	}
	return rows.Err()
}
