package decode

import (
	"fmt"
	"time"

	"leasehold/shared/fault"
)

// Error describes the fault of a file, in words for people and without its
// name. Kind is the sentinel of package fault that errors.Is finds.
type Error struct {
	Kind   error
	Reason string
}

func (e *Error) Error() string { return e.Reason }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

func invalid(format string, args ...any) error {
	return &Error{fault.ErrInvalid, fmt.Sprintf(format, args...)}
}

func tooLarge(format string, args ...any) error {
	return &Error{fault.ErrTooLarge, fmt.Sprintf(format, args...)}
}

func corrupt(format string, args ...any) error {
	return &Error{fault.ErrCorrupt, fmt.Sprintf(format, args...)}
}

// truncated returns the error of sound that breaks off at the time at. The file declared
// the length of, or none if of is 0.
func truncated(at, of time.Duration) error {
	if of > 0 {
		return corrupt("truncated: the sound breaks off at %s of %s", clock(at), clock(of))
	}
	return corrupt("truncated: the sound breaks off at %s", clock(at))
}

// clock prints a position the way a player shows it, such as 0:07.30.
func clock(d time.Duration) string {
	c := d.Round(10*time.Millisecond) / (10 * time.Millisecond)
	return fmt.Sprintf("%d:%02d.%02d", c/6000, c/100%60, c%100)
}

// span returns the time that n frames take at a rate.
func span(n int64, rateHz int) time.Duration {
	return time.Duration(float64(n) / float64(rateHz) * float64(time.Second))
}
