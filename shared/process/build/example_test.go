package build_test

import (
	"fmt"

	"leasehold/shared/process/build"
)

func Example() {
	fmt.Println(build.Version() != "")
	// Output: true
}
