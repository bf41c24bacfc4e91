//go:build browser && linux

package drill

import (
	"slices"

	"leasehold/models"
)

// A fault is something that goes wrong with a real system, and what a person does about it.
type fault struct {
	cause  models.Cause
	flags  func(r *rig) []string // of the coordinator; nil: none
	disk   bool                  // the data folder is on a small disk
	begin  func(r *rig)          // makes it; the condition of the cause holds when it returns
	repair func(r *rig)          // repairs what a button cannot, before it is pressed; nil: nothing
	after  func(r *rig)          // goes on after the button was pressed; nil: nothing
	alone  bool                  // it is not made beside other faults, because it changes their processes or takes a minute
}

// faults are all faults, one for each cause that a process can have.
func faults() []fault {
	return slices.Concat(taskFaults, workerFaults, systemFaults, archiveFaults())
}
