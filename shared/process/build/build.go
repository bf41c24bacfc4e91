// Package build tells which version of the program runs.
package build

import "runtime/debug"

// version is set by the Makefile (-ldflags "-X leasehold/shared/process/build.version=…").
var version string

// Version returns the version that the linker's flag set, else the one that Go recorded;
// "unknown" if there is neither.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
