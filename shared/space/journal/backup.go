package journal

import (
	"context"
	"time"
)

// Copier is a journal that can be copied while it is in use.
type Copier interface {
	Journal
	// Copy writes to dir, which does not exist, a journal of its own that holds
	// all records committed before the call, and the first of those, or none, that are
	// committed meanwhile.
	Copy(ctx context.Context, dir string) error
}

// Stamp tells to which other store a journal belongs, and how far it was at a time.
type Stamp struct {
	Instance string // of the data folder; empty: the journal is of no instance yet
	Counter  uint64 // it rises together with that of the other store
	Position Position
	Ref      int64
	Clock    time.Duration // elapsed engine time at Position
	At       time.Time     // when the stamp was written
}

// Stamped is a journal that keeps a stamp.
type Stamped interface {
	Journal
	// Stamp returns the stamp that is on disk.
	Stamp() Stamp
	// SetStamp writes a stamp for where the journal stands now. On an error the older
	// stamp stays.
	SetStamp(instance string, counter uint64) error
}
