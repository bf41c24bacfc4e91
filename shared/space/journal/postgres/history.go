package postgres

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// historyPage is how many records one query of HistoryBefore reads. No connection is held while visit works.
const historyPage = 200

// LatestHistory implements space.History. It reads the records of all owners. It fails with fault.ErrClosed once
// the journal is closed, and with fault.ErrUnavailable if the database does not answer.
func (j *Journal) LatestHistory(ctx context.Context, key string) (found space.HistoryRecord, ok bool, err error) {
	if err := j.usable(); err != nil {
		return found, false, err
	}
	err = j.pool.QueryRow(ctx, `SELECT seq, clock, key, value FROM history WHERE sha256(key) = sha256($1) AND key = $1
		ORDER BY seq DESC LIMIT 1`, []byte(key)).Scan(historyInto(&found)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return found, false, nil
	}
	return found, err == nil, j.named(err)
}

// HistoryBefore implements space.History. It fails as LatestHistory does.
func (j *Journal) HistoryBefore(ctx context.Context, seq int64, visit func(space.HistoryRecord) bool) error {
	if seq == 0 {
		seq = math.MaxInt64
	}
	for {
		if err := j.usable(); err != nil {
			return err
		}
		page, err := j.historyPage(ctx, seq)
		if err != nil {
			return j.named(err)
		}
		for _, h := range page {
			if !visit(h) {
				return nil
			}
			seq = h.Seq
		}
		if len(page) < historyPage {
			return nil
		}
	}
}

// historyPage reads the records before seq, the latest first.
func (j *Journal) historyPage(ctx context.Context, seq int64) ([]space.HistoryRecord, error) {
	rows, err := j.pool.Query(ctx, "SELECT seq, clock, key, value FROM history WHERE seq < $1 ORDER BY seq DESC LIMIT $2", seq, historyPage)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (h space.HistoryRecord, err error) {
		return h, row.Scan(historyInto(&h)...)
	})
}

// historyInto returns where to scan the columns seq, clock, key and value.
func historyInto(h *space.HistoryRecord) []any {
	return []any{&h.Seq, (*int64)(&h.Clock), (*text)(&h.Key), (*text)(&h.Value)}
}

// text scans a bytea as a string, because it may hold NUL, which PostgreSQL refuses in a text.
type text string

// ScanBytes implements pgtype.BytesScanner.
func (t *text) ScanBytes(b []byte) error {
	*t = text(b)
	return nil
}

// TrimHistory implements journal.HistoryTrimmer. It fails with journal.ErrDeposed unless this process is the owner,
// and otherwise as LatestHistory does.
func (j *Journal) TrimHistory(ctx context.Context, before time.Duration, l space.HistoryLimits) (removed int, err error) {
	err = j.fenced(ctx, func(tx pgx.Tx) error {
		newest := &journal.Historic{}
		if err := tx.QueryRow(ctx, newestHistory).Scan(&newest.Count, &newest.Bytes); err != nil {
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		}
		oldest, err := oldestHistory(ctx, tx)
		if err != nil {
			return err
		}
		removed = journal.Excess(oldest, newest, before, l)
		if removed == 0 {
			return nil
		}
		_, err = tx.Exec(ctx, "DELETE FROM history WHERE seq <= $1", oldest[removed-1].Seq)
		return err
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// oldestHistory reads as many of the oldest records as one call may remove.
func oldestHistory(ctx context.Context, tx pgx.Tx) ([]*journal.Historic, error) {
	rows, err := tx.Query(ctx, "SELECT seq, clock, key, value, count, bytes FROM history ORDER BY seq LIMIT $1", journal.MaxTrimmed)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*journal.Historic, error) {
		h := &journal.Historic{}
		return h, row.Scan(append(historyInto(&h.HistoryRecord), &h.Count, &h.Bytes)...)
	})
}
