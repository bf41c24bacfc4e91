package auth

import (
	"context"

	"leasehold/coordinator/admission"
)

// EndingInvites returns the invites that end soon while processes need them to come back; see admission.EndingInvites.
func (a *Auth) EndingInvites(ctx context.Context) ([]admission.Ending, error) {
	a.noteConnected(ctx)
	var change admission.CAChange
	if _, end := a.Authority.Former(); !end.IsZero() {
		change = admission.CAChange{At: a.Authority.Created(), End: end}
	}
	return a.Store.EndingInvites(ctx, change)
}
