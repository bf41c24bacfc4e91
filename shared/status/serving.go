package status

import (
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// MaxSlots bounds what one session may say that it serves of an action.
const MaxSlots = 1 << 20

// Server is a session that serves an action.
type Server struct {
	ID    string
	Slots int64 // above 0
}

// Serving returns the live sessions that serve an action with a slot at least. A
// tuple that a stranger put counts like a beat's, within the bounds of one.
func Serving(tx space.Tx, action string) []Server {
	var servers []Server
	for _, e := range tx.Scan(Space, AnyServing(action)) {
		if slots := min(e.Tuple.Int64(3), MaxSlots); slots > 0 {
			servers = append(servers, Server{ID: e.Tuple.Str(1), Slots: slots})
		}
	}
	return servers
}

// AnyServing matches the tuples of those that serve an action.
func AnyServing(action string) tuple.Template {
	return tuple.Match("serves", tuple.AnyString, action, tuple.AnyInt64)
}

// anyServedBy matches what one session serves; action may be a formal.
func anyServedBy(id string, action any) tuple.Template {
	return tuple.Match("serves", id, action, tuple.AnyInt64)
}
