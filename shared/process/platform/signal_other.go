//go:build !linux

package platform

import "os/exec"

// endWithThread does nothing, because only Linux has such a signal.
func endWithThread(*exec.Cmd) {}
