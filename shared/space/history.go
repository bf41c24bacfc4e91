package space

import (
	"context"
	"time"

	"leasehold/shared/tuple"
)

// The history is a list of records that procedures keep beside the spaces
// (Tx.RecordHistory): on the disk only, so that they take no memory, and in the journal's
// record of the transaction, so that they are there exactly if the transaction happened.
// The oldest are removed (HistoryLimits).

// HistoryRecord is one record of the history.
type HistoryRecord struct {
	Seq        int64         // its position: later records have higher ones
	Clock      time.Duration // engine time when it was recorded
	Key, Value string
}

// MaxHistoryKey is the maximum size of the key of a history record, in bytes.
const MaxHistoryKey = 256

// History reads the history, as far as it is durable. It reads the disk and blocks meanwhile.
type History interface {
	// LatestHistory returns the latest record with a key, and reports whether there is one;
	// one that was removed is none.
	LatestHistory(ctx context.Context, key string) (HistoryRecord, bool, error)
	// HistoryBefore calls visit with the records whose Seq is lower than seq, or with all if
	// seq is 0, the latest first, until visit returns false. visit may keep the record.
	HistoryBefore(ctx context.Context, seq int64, visit func(HistoryRecord) bool) error
}

// HistoryLimits bound the history. What exceeds one of them is removed, the oldest first. Each
// of them counts: 0 allows no record.
type HistoryLimits struct {
	Age    time.Duration // of engine time, which stands still while the process does not run
	Number int64         // records
	Bytes  int64         // of keys and values
}

// A Reader answers calls from the history, outside of transactions.
type Reader func(ctx context.Context, h History, args tuple.Tuple) (tuple.Tuple, error)

// Readers are registered at an engine by name, beside its procedures.
type Readers map[string]Reader
