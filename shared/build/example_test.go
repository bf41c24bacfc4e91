package build_test

import (
	"fmt"

	"leasehold/shared/build"
)

func Example() {
	fmt.Println(build.Version() != "")
	// Output: true
}
