package cmd

import (
	"fmt"
	"os"
	"syscall"
)

// restart begins this process anew, since nothing else ends a handler that is
// stuck. It returns only if that cannot be done.
func restart() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	return fmt.Errorf("restart %s: %w", self, syscall.Exec(self, os.Args, os.Environ()))
}
