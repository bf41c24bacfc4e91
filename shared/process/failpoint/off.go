//go:build !failpoints

package failpoint

// Reached does nothing in this build. With the tag failpoints it kills or stops the
// process if FAILPOINT selects point; of distinguishes callers that share a point.
func Reached(point, of string) {}
