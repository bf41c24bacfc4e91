package journal

import (
	"errors"
	"fmt"

	"leasehold/shared/fault"
)

// ErrFull means that a Commit found the disk full: nothing of the batch was written, and
// the journal can be used again. It is a fault.ErrOverloaded.
var ErrFull = fmt.Errorf("journal: the disk is full: %w", fault.ErrOverloaded)

// ErrBroken means that a write or a sync failed, so that the content of the disk is
// unknown. The journal must not be used again, Load included: the process ends, and the
// next one reads the disk. No file is synced a second time after an error.
var ErrBroken = errors.New("journal: a write failed, and the content of the disk is unknown")

// FullReporter is a journal that reports when its disk runs out. It keeps a reserve for
// work that has begun, and for records that only remove: an engine that refuses records
// that grow the journal while Full can go on with the rest.
type FullReporter interface {
	Journal
	// Full reports whether requests that make the journal grow must be refused with
	// ErrFull, before they change anything. It becomes false by itself once the disk has
	// space again. It is cheap, does not block, and may be called concurrently with
	// everything else.
	Full() bool
}
