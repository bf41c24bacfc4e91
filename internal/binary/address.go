package binary

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

// lastPort was given out last.
var lastPort atomic.Int64

// FreeAddress returns an address of this machine at which nobody listens. Its port is below
// those that the system gives to clients, and given out once: one that dials a program which
// is down is not given that very port, nor is another between two of its lives.
func FreeAddress() (string, error) {
	const first, ports, tries = 12_000, 20_000, 1000
	for range tries {
		address := fmt.Sprint("127.0.0.1:", first+(int64(os.Getpid())*64+lastPort.Add(1))%ports)
		if l, err := net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", errors.New("no port is free")
}
