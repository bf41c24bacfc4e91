package node

import "leasehold/shared/process/platform"

const (
	// reservedDescriptors are the file descriptors that a coordinator keeps for its data,
	// its cache and its log.
	reservedDescriptors = 64
	// connectionLimit is how many connections the gate and the API each accept if the
	// system allows that many file descriptors.
	connectionLimit = 10_000
)

// maxConnections returns how many connections the gate and the API may each have:
// connectionLimit, or fewer if the process may open few files. They have equal shares of the file
// descriptors, so that the API answers health checks also when clients have taken all connections
// of the gate.
func maxConnections() int {
	limit, ok := platform.MaxOpenFiles()
	if !ok { // the system has no such limit, or does not report it
		return connectionLimit
	}
	return connectionShare(limit)
}

// connectionShare returns the share of each of two listeners, at least 1.
func connectionShare(descriptors uint64) int {
	if descriptors <= reservedDescriptors {
		return 1
	}
	return int(min(max((descriptors-reservedDescriptors)/2, 1), connectionLimit))
}
