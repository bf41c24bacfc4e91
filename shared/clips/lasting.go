package clips

import (
	"errors"

	"leasehold/shared/fault"
)

// Lasting reports whether the content of the recording causes err, so that a retry would fail in the
// same way: err is fault.ErrInvalid, ErrTooLarge or ErrCorrupt. It must not be called for an error of
// fetching the recording. A file that is missing, or a program that is not installed, may be there on
// another machine.
func Lasting(err error) bool {
	for _, kind := range []error{fault.ErrInvalid, fault.ErrTooLarge, fault.ErrCorrupt} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
