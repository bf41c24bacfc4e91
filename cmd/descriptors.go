package cmd

import "syscall"

const (
	// ownDescriptors are the files that a coordinator keeps for itself: its data,
	// what it fetches, its log.
	ownDescriptors = 64
	// maxConnections is what the gate, and the API, take where the system allows it.
	maxConnections = 10_000
)

// connections are how many the gate and the API may have each, so that neither
// takes the other's file descriptors: whoever fills the gate, health is answered.
func connections() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return maxConnections
	}
	return connectionsOf(limit.Cur)
}

// connectionsOf divides so many file descriptors.
func connectionsOf(files uint64) int {
	if files <= ownDescriptors {
		return 1
	}
	return int(min(max((files-ownDescriptors)/2, 1), maxConnections))
}
