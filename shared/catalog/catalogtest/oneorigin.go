package catalogtest

import (
	"context"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
)

// OneOrigin is a catalog.Origins that knows one origin by any id. Its first Away calls
// fail with fault.ErrUnavailable. It is not safe for concurrent use.
type OneOrigin struct {
	Only models.Origin
	Away int
}

// Origin returns Only for any id. The first Away calls return fault.ErrUnavailable, as during a restart.
func (o *OneOrigin) Origin(context.Context, string) (models.Origin, error) {
	if o.Away--; o.Away >= 0 {
		return models.Origin{}, fmt.Errorf("restarting: %w", fault.ErrUnavailable)
	}
	return o.Only, nil
}
