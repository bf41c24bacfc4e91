package node

import (
	"log/slog"

	"leasehold/shared/process/platform"
)

const (
	// reservedDescriptors are the file descriptors that a coordinator keeps for its data,
	// its cache and its log.
	reservedDescriptors = 64
	// connectionLimit is how many connections the gate and the API each accept if the
	// system allows that many file descriptors.
	connectionLimit = 10_000
	// fewConnections is a share that a fleet of some machines may use up.
	fewConnections = 200
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

// connectionShare returns the share of each of two listeners, at least 1. A process that may open very few files
// keeps three quarters of them for its data, because a coordinator without clients has about 32 open.
func connectionShare(descriptors uint64) int {
	reserved := min(reservedDescriptors, descriptors/4*3)
	return int(min(max((descriptors-reserved)/2, 1), connectionLimit))
}

// warnOfFewFiles warns if the process may open so few files that clients are refused soon.
func warnOfFewFiles(log *slog.Logger) {
	if limit, ok := platform.MaxOpenFiles(); ok && connectionShare(limit) < fewConnections {
		log.Warn("coordinator: few open files are allowed, so few clients can connect; set ulimit -n 4096 or more",
			"open files", limit, "connections to the gate", connectionShare(limit), "connections to the API", connectionShare(limit))
	}
}
