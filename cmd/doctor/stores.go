package doctor

import (
	"errors"
	"fmt"
	"strings"

	"leasehold/shared/fault"
)

// shownDamage is how many lines of damage a finding has.
const shownDamage = 5

// undamaged is a finding about something that was read.
const undamaged = "read as a whole; no damage was found"

// shorten joins the first lines of damage, and tells how many more there are.
func shorten(damage []string) string {
	more := ""
	if n := len(damage) - shownDamage; n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	return strings.Join(damage[:min(len(damage), shownDamage)], "; ") + more
}

// Database returns the finding about a database that was read: its damage, or why it could not be read.
func Database(damage []string, err error) Finding {
	f := Finding{Check: "database", State: OK, What: undamaged}
	switch {
	case errors.Is(err, fault.ErrNotFound):
		f.What = "there is none yet"
	case errors.Is(err, fault.ErrConflict), errors.Is(err, fault.ErrFolder):
		f.State, f.What, f.Advice = Warn, err.Error(), "see the nightly check in leasehold status --json, or stop the coordinator and repeat this"
	case err != nil:
		f.State, f.What, f.Advice = Fail, err.Error(), "check the disk and the permissions of the folder"
	case len(damage) > 0:
		f.State, f.What, f.Advice = Fail, shorten(damage), "restore a backup, and check the disk"
	}
	return f
}

// Journal returns the finding about a journal that was read: its damage, or why it could not be read.
func Journal(damage string, err error) Finding {
	f := Finding{Check: "journal", State: OK, What: undamaged}
	switch {
	case errors.Is(err, fault.ErrNotFound):
		f.What = "there is none yet"
	case errors.Is(err, fault.ErrConflict), errors.Is(err, fault.ErrFolder):
		f.State, f.What, f.Advice = Warn, err.Error(), "stop the coordinator and repeat this"
	case errors.Is(err, fault.ErrCorrupt):
		f.State, f.What, f.Advice = Fail, err.Error(), "restore a backup, and check the disk"
	case err != nil:
		f.State, f.What, f.Advice = Fail, err.Error(), "check the disk and the permissions of the folder"
	case damage != "":
		f.State, f.What, f.Advice = Fail, damage, "leasehold repair prints what can be kept, and leasehold repair --apply keeps it"
	}
	return f
}
