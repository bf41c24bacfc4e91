//go:build !failpoints

package clock

import "time"

// Now returns the time of the system's clock.
func Now() time.Time { return time.Now() }
