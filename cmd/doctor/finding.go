package doctor

import (
	"context"
	"slices"
)

// State is the result of a check.
type State string

// The states.
const (
	OK   State = "ok"
	Warn State = "warning" // something works less well
	Fail State = "failed"  // Leasehold does not work
)

// Finding is the result of one check with its reason.
type Finding struct {
	Check  string
	State  State
	What   string // what the check found
	Advice string // what to do; empty if State is OK
}

// Folders are the folders to check.
type Folders struct {
	Data string
	Temp string // for spools; empty: the system's
	Deep bool   // read all files of the data folder but those of the database and the journal
}

// Examine runs all checks, in a fixed order.
func Examine(ctx context.Context, f Folders) []Finding {
	return slices.Concat(
		[]Finding{checkDataFolder(f.Data), checkDiskSpace("disk space for data", f.Data), checkDiskSpace("disk space for spools", f.temp())},
		checkKeys(f.Data), checkFiles(ctx, f),
		[]Finding{checkOpenFiles(), checkClock(), checkProcessors()},
		[]Finding{checkGit()},
		checkSound(ctx),
	)
}

// Failed reports whether any check failed.
func Failed(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.State == Fail })
}
