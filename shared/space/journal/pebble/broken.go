package pebble

import (
	"fmt"
	"log/slog"
	"sync/atomic"

	"leasehold/shared/process/platform"
	"leasehold/shared/space/journal"
)

// broken remembers the first failure of a journal. The zero broken has none.
type broken struct{ first atomic.Pointer[error] }

// mark breaks the journal because of cause: all further use returns journal.ErrBroken. Only the
// first call counts.
func (b *broken) mark(cause error) {
	err := fmt.Errorf("%w: %w", journal.ErrBroken, cause)
	b.first.CompareAndSwap(nil, &err)
}

// err is the first failure, as journal.ErrBroken; nil if there was none.
func (b *broken) err() error {
	if first := b.first.Load(); first != nil {
		return *first
	}
	return nil
}

// isDiskFull reports whether err means that the disk is full.
func isDiskFull(err error) bool {
	return platform.IsDiskFull(err)
}

// storeLogger passes on the messages of the store. One that it calls fatal breaks the
// journal and not the process, because the engine decides when the process ends.
type storeLogger struct {
	log    *slog.Logger
	broken *broken
}

func (l storeLogger) Infof(format string, args ...any) {
	l.log.Debug("journal: " + fmt.Sprintf(format, args...))
}

func (l storeLogger) Errorf(format string, args ...any) {
	l.log.Debug("journal: "+fmt.Sprintf(format, args...), "kind", "error")
}

func (l storeLogger) Fatalf(format string, args ...any) {
	l.broken.mark(fmt.Errorf(format, args...))
}
