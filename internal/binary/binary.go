// Package binary makes the program, for tests that run it, and says where it may listen.
package binary

import (
	"fmt"
	"os"
	"os/exec"
)

// Build makes leasehold at path, as `make build` does, so that one build cache serves
// all; flags are further ones of go build.
func Build(path string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-o", path}, flags...)
	cmd := exec.Command("go", append(args, "leasehold")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return nil
}
