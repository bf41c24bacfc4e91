package journal

import (
	"errors"
	"fmt"

	"leasehold/shared/fault"
)

// ErrFull says that a Commit found no room: nothing of the batch was written, and
// the journal can be used again. It is a fault.ErrOverloaded.
var ErrFull = fmt.Errorf("journal: no room on the disk: %w", fault.ErrOverloaded)

// ErrBroken says that a write or a sync failed, so that nobody knows what is on
// the disk. The journal must not be used again, Load included: the process ends,
// and the next one finds out. Nothing is ever synced a second time.
var ErrBroken = errors.New("journal: a write failed, and what is on the disk is unknown")

// Roomy is a journal that says when its disk runs out. It keeps a reserve for
// what was begun before, and for what only takes away: an engine that refuses
// what grows while Full can go on with the rest.
type Roomy interface {
	Journal
	// Full reports whether what makes the journal grow is to be refused with
	// ErrFull, before it changes anything. It becomes false by itself once there is
	// room again. It is cheap, does not block, and may be called concurrently with
	// everything else.
	Full() bool
}
