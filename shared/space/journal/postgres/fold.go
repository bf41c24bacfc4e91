package postgres

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/space/journal"
)

// The bounds of a fold. What the log exceeds them by is for the next fold, which follows at once.
const (
	foldEvery = 5 * time.Second
	foldBytes = 16 << 20 // of rows of the log, which are in memory during a fold
	foldRows  = 20_000
	foldStep  = 1000    // keys, or rows of the log, that one transaction changes
	stepBytes = 4 << 20 // of values that one transaction writes, beside the last one
)

// backlog counts what the owner has written to the log and not folded.
type backlog struct {
	rows, bytes atomic.Int64
	unsure      atomic.Bool // a fold failed, so that the log may hold less
}

func (b *backlog) add(bytes int) {
	b.rows.Add(1)
	b.bytes.Add(int64(bytes))
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// read counts what the log holds. Nothing may be committed meanwhile.
func (b *backlog) read(ctx context.Context, q querier) error {
	var rows, bytes int64
	err := q.QueryRow(ctx, "SELECT count(*), coalesce(sum(octet_length(records)), 0)::bigint FROM log").Scan(&rows, &bytes)
	if err == nil {
		b.rows.Store(rows)
		b.bytes.Store(bytes)
		b.unsure.Store(false)
	}
	return err
}

func (b *backlog) folded(f *fold) {
	b.rows.Add(-int64(f.rows))
	b.bytes.Add(-f.bytes)
}

// Unfolded returns how many commits of the log are not folded, and the size of their facts in bytes. It is 0 unless
// this process claimed the journal.
func (j *Journal) Unfolded() (commits, bytes int64) {
	return j.backlog.rows.Load(), j.backlog.bytes.Load()
}

// full reports whether a fold is due at once.
func (b *backlog) full() bool { return b.rows.Load() >= foldRows || b.bytes.Load() >= foldBytes }

// fold moves a part of the log, the oldest rows, to the table fact. It is made of steps, each a transaction. After
// each of them the tables mean the same.
type fold struct {
	last  journal.Position // of the rows
	rows  int
	bytes int64
	m     *merged
	steps []func(context.Context, pgx.Tx) error
}

// readFold reads the oldest rows of the log and plans the steps. A fold without rows has no steps.
func (j *Journal) readFold(ctx context.Context) (*fold, error) {
	f := &fold{m: newMerged()}
	rows, err := j.pool.Query(ctx, `SELECT position, records FROM (
			SELECT position, records, sum(octet_length(records)) OVER (ORDER BY position) - octet_length(records) AS before
			FROM (SELECT * FROM log ORDER BY position LIMIT $1) AS oldest
		) AS summed WHERE before < $2 ORDER BY position`, foldRows, foldBytes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var row []byte
		if err := rows.Scan(&f.last, &row); err != nil {
			return nil, err
		}
		if err := f.m.add(row); err != nil {
			return nil, err
		}
		f.rows++
		f.bytes += int64(len(row))
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	f.plan()
	return f, nil
}

// plan lists the steps: first the answers of sessions that ended, then the facts, and when all of these are in the
// table fact, the rows of the log.
func (f *fold) plan() {
	if f.rows == 0 {
		return
	}
	var ended, gone [][]byte
	for prefix := range f.m.ended {
		ended = append(ended, []byte(prefix))
	}
	for part := range slices.Chunk(ended, foldStep) {
		f.steps = append(f.steps, func(ctx context.Context, tx pgx.Tx) error { return removeAnswers(ctx, tx, part) })
	}
	var held []string
	for key := range f.m.changes {
		if f.m.holds(key) {
			held = append(held, key)
		} else {
			gone = append(gone, []byte(key))
		}
	}
	for part := range slices.Chunk(gone, foldStep) {
		f.steps = append(f.steps, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "DELETE FROM fact WHERE key = ANY($1)", part)
			return err
		})
	}
	f.planPuts(held)
	f.steps = append(f.steps, f.removeRows)
}

// planPuts adds the steps that write values, in the order of their keys, as in the index.
func (f *fold) planPuts(held []string) {
	slices.Sort(held)
	var keys, values [][]byte
	size := 0
	flush := func() {
		k, v := keys, values
		f.steps = append(f.steps, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO fact SELECT * FROM unnest($1::bytea[], $2::bytea[])
				ON CONFLICT (key) DO UPDATE SET value = excluded.value`, k, v)
			return err
		})
		keys, values, size = nil, nil, 0
	}
	for _, key := range held {
		value := f.m.changes[key].value
		keys, values, size = append(keys, []byte(key)), append(values, value), size+len(value)
		if len(keys) == foldStep || size >= stepBytes {
			flush()
		}
	}
	if len(keys) > 0 {
		flush()
	}
}

// removeAnswers removes the answers of sessions, by the keys that theirs begin with.
func removeAnswers(ctx context.Context, tx pgx.Tx, sessions [][]byte) error {
	b := &pgx.Batch{}
	for _, prefix := range sessions {
		last := append(bytes.Clone(prefix), bytes.Repeat([]byte{0xff}, 8)...) // an answer's key has 8 bytes more
		b.Queue("DELETE FROM fact WHERE key BETWEEN $1 AND $2", prefix, last)
	}
	return tx.SendBatch(ctx, b).Close()
}

// removeRows removes the rows of the log.
func (f *fold) removeRows(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, "DELETE FROM log WHERE position <= $1", f.last)
	return err
}

// fold folds the log until less is left than one fold may take.
func (j *Journal) fold(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			j.backlog.unsure.Store(true)
		}
	}()
	if err := j.recount(ctx); err != nil {
		return err
	}
	for {
		f, err := j.readFold(ctx)
		if err != nil {
			return err
		}
		for _, step := range f.steps {
			if err := j.fenced(ctx, func(tx pgx.Tx) error { return step(ctx, tx) }); err != nil {
				return err
			}
		}
		j.backlog.folded(f)
		if f.rows < foldRows && f.bytes < foldBytes {
			return nil
		}
	}
}

// recount counts what the log holds after a fold that failed, because its rows are gone if only the answer to the last
// step was lost.
func (j *Journal) recount(ctx context.Context) error {
	if !j.backlog.unsure.Load() {
		return nil
	}
	done, err := j.take(ctx) // so that nothing is committed meanwhile
	if err != nil {
		return err
	}
	defer done()
	return j.backlog.read(ctx, j.pool)
}
