package journal

import "context"

// Copier is a journal that can be copied while it is in use.
type Copier interface {
	Journal
	// Copy writes to dir, which does not exist, a journal of its own that holds
	// all records committed before the call, and the first of those, or none, that are
	// committed meanwhile.
	Copy(ctx context.Context, dir string) error
}
