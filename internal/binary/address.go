package binary

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
)

// lastPort is the number of ports given out so far.
var lastPort atomic.Int64

// FreeAddress returns a loopback address on which no program listens. Its port is below
// the ports that the system assigns to clients, and is returned only once. So a client
// that dials a stopped program is never assigned that port itself, and no other program
// of the test gets it before the program restarts.
func FreeAddress() (string, error) {
	const first, ports, tries = 12_000, 20_000, 1000
	for range tries {
		address := fmt.Sprint("127.0.0.1:", first+(int64(os.Getpid())*64+lastPort.Add(1))%ports)
		if l, err := net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", errors.New("no free port")
}
