package cliplint

import "fmt"

// Fault is the kind of problem that a clip has.
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
	Missed     Fault = "missed"
)

// Lost reports whether a search cannot use a clip with the fault at all.
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
	Why     string  // the measurement; for Unreadable the error
	Advice  string  // the remedy
	Other   string  // of Duplicate and Contained: the other clip
	OffsetS float64 // seconds from the start of the other clip to the start of this one
}

// Text returns the notice without the name of the clip, such as
// "too short: 0.12 s of sound; cut it longer, at least 0.25 s".
func (n Notice) Text() string { return fmt.Sprintf("%s: %s; %s", n.Fault, n.Why, n.Advice) }
