package doctor

import (
	"context"
	"slices"
)

// State is how a check ended.
type State string

// The states.
const (
	OK   State = "ok"
	Warn State = "warning" // something works less well, or not at all
	Fail State = "failed"  // Leasehold does not work here
)

// Finding is what one check found.
type Finding struct {
	Check  string
	State  State
	What   string // was found
	Advice string // what to do; "" when all is well
}

// Folders are those that are looked at.
type Folders struct {
	Data string
	Temp string // for spools; "" is the system's
}

// Examine runs all checks, in a fixed order.
func Examine(ctx context.Context, f Folders) []Finding {
	return slices.Concat(
		[]Finding{dataFolder(f.Data), space("room for data", f.Data), space("room for spools", f.temp())},
		[]Finding{openFiles(), clock(), processors()},
		sound(ctx),
	)
}

// Failed reports whether any check failed.
func Failed(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.State == Fail })
}
