package journal

import (
	"context"
	"time"

	"leasehold/shared/space"
)

// Historic records an addition to the history. Load does not restore it, because
// it is beside the state. Its Seq is of the numbers that Refs and Places of entries are of.
type Historic struct {
	space.HistoryRecord
	// Count and Bytes count all records of the history up to this one, removed ones included. Drivers set them, so
	// that the size of any part is known without reading it.
	Count, Bytes int64
}

func (*Historic) fact() {}

// Size returns what a record counts towards a limit in bytes.
func (h *Historic) Size() int64 { return int64(len(h.Key) + len(h.Value)) }

// HistoryTrimmer removes records of the history.
type HistoryTrimmer interface {
	// TrimHistory removes records that were made before a time of the engine's clock, or
	// that exceed a limit of HistoryLimits other than the age, and returns how many. It
	// removes at most a few hundred, so that commits do not wait long for it; the caller
	// repeats it until it returns 0. Records of exactly that time stay.
	TrimHistory(ctx context.Context, before time.Duration, l space.HistoryLimits) (removed int, err error)
}

// Exceeds reports whether a record was made before a time or exceeds a limit; newest is the
// newest record of all.
func (h *Historic) Exceeds(newest *Historic, before time.Duration, l space.HistoryLimits) bool {
	return h.Clock < before || newest.Count-h.Count >= l.Number || newest.Bytes-h.Bytes+h.Size() > l.Bytes
}

// Excess returns how many records at the beginning of oldest are to be removed, because they
// were made before a time or exceed a limit. oldest is in order, the oldest first, and newest
// is the newest record of all, which need not be in it.
func Excess(oldest []*Historic, newest *Historic, before time.Duration, l space.HistoryLimits) (n int) {
	for n < len(oldest) && oldest[n].Exceeds(newest, before, l) {
		n++
	}
	return n
}

// MaxTrimmed is how many records one call of TrimHistory removes at most.
const MaxTrimmed = 500
