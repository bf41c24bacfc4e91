package journal

import "context"

// Copier is a journal that can be copied while it is in use.
type Copier interface {
	Journal
	// Copy writes to dir, which does not exist, a journal of its own that holds
	// all that was committed before the call, and of what is committed meanwhile
	// the first part or none.
	Copy(ctx context.Context, dir string) error
}
