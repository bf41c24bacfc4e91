package binary

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
)

// Ports are given out in blocks, which all test processes of a machine share. A process has a
// block while it listens on its first port.
const (
	firstPort = 12_000
	blockSize = 100
	blocks    = 200
)

var ports allocator

// FreeAddress returns a loopback address on which no program listens. Its port is below
// the ports that the system assigns to clients, and no test gets it again while this process
// lives. So a client that dials a stopped program is never assigned that port itself, and
// no other program takes it before the program restarts.
func FreeAddress() (string, error) { return ports.freeAddress() }

// allocator gives out the ports of its blocks. It may be used concurrently.
type allocator struct {
	mu    sync.Mutex
	locks []net.Listener // on the first ports of its blocks
	next  int
	left  int // ports of the last block that were not tried
}

// freeAddress tries the ports of its blocks one after the other, each once, and takes a further
// block when none is left. It tries a port by listening on it, because another program may use
// it. It is an error if all ports of all blocks are in use.
func (a *allocator) freeAddress() (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range blocks * blockSize {
		if a.left == 0 {
			if err := a.lockBlock(); err != nil {
				return "", err
			}
		}
		address := fmt.Sprint("127.0.0.1:", a.next)
		a.next++
		a.left--
		if l, err := net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", errors.New("no free port")
}

// lockBlock takes the next block that no other process has, by listening on its first port until
// this process ends. It begins at a block that depends on the process, so that processes seldom
// try the same. The caller holds mu. It is an error if others have all blocks.
func (a *allocator) lockBlock() error {
	for i := range blocks {
		first := firstPort + (os.Getpid()+i)%blocks*blockSize
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", first))
		if err != nil {
			continue // in use
		}
		a.locks = append(a.locks, l)
		a.next, a.left = first+1, blockSize-1
		return nil
	}
	return fmt.Errorf("all %d blocks of ports are in use", blocks)
}
