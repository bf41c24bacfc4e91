package sqldb

import (
	"fmt"
	"sync/atomic"
	"time"

	"leasehold/shared/process/retry"
)

// WriteFailure is why the writes of a database fail, for Database.Health of a driver. The zero value has none.
type WriteFailure struct {
	last atomic.Pointer[failure] // nil: the last write succeeded, or failed for a reason of its own
}

type failure struct {
	err   error
	since time.Time
}

// Note notes the result of a write. Calls must not overlap.
func (w *WriteFailure) Note(err error) {
	last := w.last.Load()
	switch {
	case !retry.CanPass(err):
		w.last.Store(nil)
	case last == nil:
		w.last.Store(&failure{err, time.Now()})
	default:
		w.last.Store(&failure{err, last.since})
	}
}

// Err returns why the database of a name cannot be written, and since when; nil if the last write succeeded.
func (w *WriteFailure) Err(name string) error {
	if last := w.last.Load(); last != nil {
		return fmt.Errorf("the %s cannot be written since %s: %w", name, last.since.UTC().Format(time.RFC3339), last.err)
	}
	return nil
}
