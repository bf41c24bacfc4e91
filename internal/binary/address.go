package binary

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"leasehold/shared/platform"
)

// Ports are given out in blocks, which are shared by all test processes of a machine.
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

// allocator gives out the ports of blocks that it has locked. It may be used concurrently.
type allocator struct {
	mu    sync.Mutex
	locks []*os.File // of its blocks; they stay open, because a closed file is not locked
	next  int
	left  int // ports of the last block that were not tried
}

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

// lockBlock takes the next block that nothing else has locked.
func (a *allocator) lockBlock() error {
	dir := filepath.Join(os.TempDir(), "leasehold-test-ports")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i := range blocks {
		block := (os.Getpid() + i) % blocks
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(block)), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		if locked, err := platform.LockFile(f); err != nil || !locked {
			f.Close()
			continue
		}
		a.locks = append(a.locks, f)
		a.next, a.left = firstPort+block*blockSize, blockSize
		return nil
	}
	return fmt.Errorf("all %d blocks of ports are locked: see %s", blocks, dir)
}
