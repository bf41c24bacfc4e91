package task

import "leasehold/shared/space"

// nameOf returns the stable name of the worker behind a session, by which tasks remember who gave them back: the name
// that its process reported, or without one the session's id.
func nameOf(tx space.Tx, session string) string {
	if name := tx.WorkerName(session); name != "" {
		return name
	}
	return session
}
