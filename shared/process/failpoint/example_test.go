package failpoint_test

import (
	"fmt"

	"leasehold/shared/process/failpoint"
)

// If a process is built with the tag failpoints and started with FAILPOINT=write.after:1, it prints nothing here.
func Example() {
	write := func() { fmt.Println("written") }
	failpoint.Reached("write.before", "")
	write()
	failpoint.Reached("write.after", "")
	// Output: written
}
