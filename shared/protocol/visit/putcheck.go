package visit

import (
	"fmt"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// checkPut refuses a visit that a session puts by itself, unless the coordinator could put it for an origin that a
// list names. A visit as the operator's would have a manager read a file, or dial a private address, for anyone. The
// error is fault.ErrInvalid for a tuple without the fields of a visit, fault.ErrConflict for one that exists, and
// fault.ErrForbidden for an origin that a list cannot name.
func checkPut(tx space.Tx, t tuple.Tuple) error {
	id := DecodeKey(t).Visit
	if !Any().Matches(t) || !models.ValidID(id) {
		return fmt.Errorf("%w: want a visit with an id: %s", fault.ErrInvalid, Any())
	}
	v, err := decode(t)
	switch {
	case err != nil:
		return fmt.Errorf("%w: visit %s: %w", fault.ErrInvalid, id, err)
	case exists(tx, id):
		return fmt.Errorf("visit %s: %w: it exists", id, fault.ErrConflict)
	case !v.Listed || !v.Origin.Kind.Info().Listable || !models.IsWebURL(v.Origin.URI):
		return fmt.Errorf("visit %s: %w: want \"listed\": true and an origin that a list may name, with an http or https URL", id, fault.ErrForbidden)
	}
	return nil
}

// exists reports whether a visit waits, is held, or has an unrecorded outcome.
func exists(tx space.Tx, id string) bool {
	in := func(name string, p tuple.Template) bool { return tx.Count(name, p) > 0 || len(tx.Held(name, p)) > 0 }
	return in(Space, withID(id)) || in(task.Result, task.MatchResult(Action, tuple.AnyString, id))
}
