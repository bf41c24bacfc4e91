// Package faketime gives a process that a test starts a clock of its own, with the library of Debian's package
// faketime.
package faketime

import "os"

// library sets the clock of a process that it is loaded into.
const library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"

// Installed reports whether a process can have a clock of its own.
func Installed() bool {
	_, err := os.Stat(library)
	return err == nil
}

// Environment returns the settings of a process whose clock is off by what file has, such as +3600 or -1d. The file may
// change; how soon that is noticed is up to FAKETIME_NO_CACHE and FAKETIME_CACHE_DURATION. The monotonic clock stays.
func Environment(file string) []string {
	return []string{"LD_PRELOAD=" + library, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"}
}
