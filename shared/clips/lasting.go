package clips

import (
	"errors"

	"leasehold/shared/fault"
)

// Lasting reports whether the recording itself causes err, so that a retry would fail in the same
// way: err is fault.ErrInvalid, ErrTooLarge, ErrCorrupt, or ErrNotFound, because the file is gone
// or a program is not installed.
func Lasting(err error) bool {
	for _, kind := range []error{fault.ErrInvalid, fault.ErrTooLarge, fault.ErrNotFound, fault.ErrCorrupt} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
