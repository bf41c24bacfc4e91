package space

import (
	"os"

	"leasehold/shared/process/build"
)

// Process is the program behind a session, as the program describes itself. It is for
// people, and for protocols that prefer another machine; nothing authenticates it. Each
// field may be empty.
type Process struct {
	Mode    string // manager, worker, client …
	Host    string // name of the machine or container; at most MaxName bytes, as the others
	PID     int
	Version string
	// Name is the stable name of a worker, which it has again after a restart; empty: it has
	// none but the id of its session.
	Name string
}

// ThisProcess returns the description of the running program in a mode. A host name unknown or too long for a session
// is left out, because sessions of an unknown host are treated one by one.
func ThisProcess(mode string) Process {
	host, err := os.Hostname()
	if err != nil || len(host) > MaxName {
		host = ""
	}
	return Process{Mode: mode, Host: host, PID: os.Getpid(), Version: build.Version()}
}
