package auth

import (
	"context"
	"fmt"
	"time"

	"leasehold/shared/identity"
)

// Rotate makes a new CA, and accepts that of today until end; if end has passed, the processes that are connected end, and
// have to join with new lines. It fails as authority.Authority.Rotate.
func (a *Auth) Rotate(ctx context.Context, end time.Time) error {
	current := a.Authority.Fingerprint().String()
	record := func(next identity.Fingerprint) error { return a.Store.SetCAs(ctx, current, next.String()) }
	if err := a.Authority.Rotate(end, record); err != nil {
		return err
	}
	if a.Keep != nil {
		if err := a.Keep(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("this coordinator has a new CA, and the others of its realm do not get it: %w", err)
		}
	}
	// A crash before this leaves both, and the next start keeps the one in the folder.
	if err := a.Store.SetCAs(context.WithoutCancel(ctx), a.Authority.Fingerprint().String()); err != nil {
		a.Log.Warn("auth: the database keeps the former CA beside the new one until the next start", "error", err)
	}
	a.mu.Lock()
	rotated, connected := a.rotated, a.connected
	a.mu.Unlock()
	if rotated != nil {
		rotated()
	}
	former, until := a.Authority.Former()
	if !until.IsZero() {
		a.Log.Warn("auth: the coordinator has a new CA", "fingerprint", a.Authority.Fingerprint(), "former", former, "accepted until", until)
		return nil
	}
	a.Log.Warn("auth: the coordinator has a new CA, and accepts no other", "fingerprint", a.Authority.Fingerprint())
	if connected != nil {
		for _, id := range connected() {
			a.ended(id)
		}
	}
	return nil
}

// OnRotate has rotated called after each change of the CA.
func (a *Auth) OnRotate(rotated func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rotated = rotated
}
