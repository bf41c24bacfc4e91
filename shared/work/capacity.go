package work

import (
	"leasehold/shared/space"
	"leasehold/shared/status"
	"leasehold/shared/task"
)

// hasRoom is the capacity check.
func hasRoom(tx space.Tx, action string) bool {
	slots := int64(0)
	for _, s := range status.Serving(tx, action) {
		slots += s.Slots
	}
	return room(slots, int64(tx.Count(task.Space, task.AnyOf(action))))
}

// room says whether one more task of an action may wait, where so many slots serve
// it and so many tasks of it wait already.
func room(slots, waiting int64) bool {
	if slots == 0 {
		return waiting == 0
	}
	return slots >= waiting
}
