package auth

import (
	"context"

	"leasehold/coordinator/admission"
)

// Warnings returns what will lock processes out, a line for each.
func (a *Auth) Warnings(ctx context.Context) ([]string, error) {
	a.noteConnected(ctx)
	var change admission.CAChange
	if _, end := a.Authority.Former(); !end.IsZero() {
		change = admission.CAChange{At: a.Authority.Created(), End: end}
	}
	return a.Store.Warnings(ctx, change)
}
