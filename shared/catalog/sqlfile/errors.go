package sqlfile

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"leasehold/shared/fault"
)

// classify adds the kind of package fault to an error of SQLite: fault.ErrCorrupt, fault.ErrOverloaded for a full
// disk, and fault.ErrConflict for a file in use. Any other error, and nil, stay as they are.
func classify(err error) error {
	var e *driver.Error
	if !errors.As(err, &e) {
		return err
	}
	switch code := e.Code(); {
	case code&0xff == lib.SQLITE_NOTADB, code&0xff == lib.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", fault.ErrCorrupt, err)
	case isDiskFull(code):
		return fmt.Errorf("%w: the disk is full: %w", fault.ErrOverloaded, err)
	case code&0xff == lib.SQLITE_BUSY, code&0xff == lib.SQLITE_LOCKED:
		return fmt.Errorf("%w: another process or handle holds it: %w", fault.ErrConflict, err)
	}
	return err
}

// isDiskFull reports whether an extended code of SQLite stands for a full disk. SHMSIZE does, because
// SQLite returns it if it cannot extend the file of the shared memory (-shm), which each opening does.
func isDiskFull(code int) bool {
	return code&0xff == lib.SQLITE_FULL || code == lib.SQLITE_IOERR_SHMSIZE
}
