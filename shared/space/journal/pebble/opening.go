package pebble

import (
	"fmt"
	"sync"
	"sync/atomic"

	lsm "github.com/cockroachdb/pebble/v2"

	"leasehold/shared/fault"
)

// An opening is the time in which the store is opened. It makes tables of its logs
// then, and it repeats a write that fails for ever. So a full disk breaks
// the journal too, and the goroutine that would repeat it waits for the end of the process.
type opening struct {
	over  atomic.Bool
	once  sync.Once
	stuck chan struct{} // closed when the store tries again
}

// failed returns why a store that cannot write a table cannot be opened: fault.ErrFolder for a full disk, otherwise
// err. It returns nil once the store is open, because then it writes the table again later.
func (o *opening) failed(err error) error {
	switch {
	case o.over.Load():
		return nil
	case isDiskFull(err):
		return fmt.Errorf("%w: the disk is full: free space to start: %w", fault.ErrFolder, err)
	}
	return err
}

// block stops a goroutine that would write another table after the journal broke: it never
// returns, unless the store is open. It tells openStore first, which then gives up.
func (o *opening) block() {
	if o.over.Load() {
		return
	}
	o.once.Do(func() { close(o.stuck) })
	select {}
}

// openStore opens the store, or returns the error of the write that failed. In the latter case
// the goroutine that opens it is left behind (block).
func (j *Journal) openStore() (*lsm.DB, error) {
	type opened struct {
		db  *lsm.DB
		err error
	}
	done := make(chan opened, 1)
	compactions := newScheduler()
	go func() {
		db, err := lsm.Open(j.Dir, j.storeOptions(j.disk(), compactions))
		done <- opened{db, err}
	}()
	select {
	case r := <-done:
		j.opening.over.Store(true)
		if r.err == nil {
			compactions.start()
		}
		return r.db, r.err
	case <-j.opening.stuck:
		return nil, j.broken.err()
	}
}
