package catalogtest

import (
	"context"
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
)

// Shelf is a catalog.Origins that knows one origin by any id. Nobody answers its first
// Away calls. It is not safe for concurrent use.
type Shelf struct {
	Only models.Origin
	Away int
}

// Origin implements catalog.Origins.
func (s *Shelf) Origin(context.Context, string) (models.Origin, error) {
	if s.Away--; s.Away >= 0 {
		return models.Origin{}, fmt.Errorf("restarting: %w", fault.ErrUnavailable)
	}
	return s.Only, nil
}
