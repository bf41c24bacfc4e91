package visit

import (
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/tuple"
)

// room () answers for how many visits more there is room: the free slots of the
// sessions that say that they serve visits, and one more, so that nobody waits and
// those who serve without saying so are served too; less the visits that wait.
func room(tx space.Tx, _ tuple.Tuple) (tuple.Tuple, error) {
	slots := int64(0)
	for _, s := range status.Serving(tx, Action) {
		slots += s.Slots
	}
	free := max(slots-int64(len(tx.Held(Space, Any()))), 0)
	return tuple.New(max(free+1-int64(tx.Count(Space, Any())), 0)), nil
}
