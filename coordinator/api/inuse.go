package api

import (
	"context"
	"fmt"
	"sync"

	"leasehold/shared/fault"
)

// inUse are the requests in progress, by the identity that makes them, so that a revoked one ends them.
type inUse struct {
	mu   sync.Mutex // guards open
	open map[string]map[*context.CancelCauseFunc]bool
}

// enter returns a context for a request of an identity, which ends when the identity is revoked; leave must be called
// after the request.
func (u *inUse) enter(ctx context.Context, id string) (_ context.Context, leave func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.open[id] == nil {
		u.open[id] = map[*context.CancelCauseFunc]bool{}
	}
	u.open[id][&cancel] = true
	return ctx, func() {
		cancel(nil)
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.open[id], &cancel)
		if len(u.open[id]) == 0 {
			delete(u.open, id)
		}
	}
}

// end ends the requests of an identity.
func (u *inUse) end(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for cancel := range u.open[id] {
		(*cancel)(fmt.Errorf("%s was revoked: %w", id, fault.ErrUnauthenticated))
	}
}
