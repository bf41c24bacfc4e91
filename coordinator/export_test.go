package coordinator

import "leasehold/shared/space"

// Decorate wraps the connection of c's own session. It must be called before Run.
func (c *Coordinator) Decorate(wrap func(space.Conn) space.Conn) { c.decorate = wrap }
