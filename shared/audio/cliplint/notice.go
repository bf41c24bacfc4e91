package cliplint

import "fmt"

// Fault is what is wrong with a clip.
type Fault string

// The faults.
const (
	Unreadable Fault = "unreadable"
	Silent     Fault = "silent"
	TooShort   Fault = "too short"
	TooLong    Fault = "too long"
	Noise      Fault = "noise-like"
	Steady     Fault = "steady"
	Duplicate  Fault = "duplicate"
	Contained  Fault = "contained"
)

// Lost reports whether a clip with the fault cannot be looked for at all.
func (f Fault) Lost() bool {
	switch f {
	case Unreadable, Silent, TooShort, TooLong:
		return true
	}
	return false
}

// Notice is one fault of one clip.
type Notice struct {
	Clip    string
	Fault   Fault
	Why     string  // what was measured; for Unreadable the error
	Advice  string  // what to do
	Other   string  // of Duplicate and Contained: the other clip
	OffsetS float64 // where in the other clip it begins
}

// Text is all of the notice but the clip's name, such as
// "too short: 0.12 s of sound; cut it longer, at least 0.25 s".
func (n Notice) Text() string { return fmt.Sprintf("%s: %s; %s", n.Fault, n.Why, n.Advice) }
