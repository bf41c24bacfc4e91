package exec

import "time"

// KillAfter changes how long a command may go on after SIGTERM.
func (h *Handler) KillAfter(d time.Duration) { h.killAfter = d }
