package fetch

import (
	"context"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
)

// Within calls read with a context that ends when reading an origin of a kind has taken too long
// (models.KindInfo.ReadWithin). It then fails with fault.ErrUnavailable.
func Within(ctx context.Context, kind models.OriginKind, read func(context.Context) error) error {
	most := kind.Info().ReadWithin
	if most == 0 {
		return read(ctx)
	}
	late := fmt.Errorf("no complete answer within %s: %w", most, fault.ErrUnavailable)
	limited, cancel := context.WithTimeoutCause(ctx, most, late)
	defer cancel()
	err := read(limited)
	if err != nil && context.Cause(limited) == late {
		return late
	}
	return err
}
