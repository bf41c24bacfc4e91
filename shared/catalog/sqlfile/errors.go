package sqlfile

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"leasehold/shared/fault"
)

// classify adds the kind of package fault to an error of SQLite: fault.ErrCorrupt, and fault.ErrOverloaded for a full
// disk. Any other error, and nil, stay as they are.
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
	}
	return err
}

// classifyOpening is classify for an error of opening a file: fault.ErrConflict if it is in use.
func classifyOpening(err error) error {
	if isLocked(err) {
		return fmt.Errorf("%w: another process or handle holds it: %w", fault.ErrConflict, err)
	}
	return classify(err)
}

// classifyCall is classify for an error of a call of an open file: fault.ErrUnavailable if the call may succeed later,
// because another program locks the file, or the system fails to read or write it.
func classifyCall(err error) error {
	if isLocked(err) {
		return fmt.Errorf("%w: another program locks the file: %w", fault.ErrUnavailable, err)
	}
	var e *driver.Error
	if errors.As(err, &e) && !isDiskFull(e.Code()) {
		switch e.Code() & 0xff {
		case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN, lib.SQLITE_PROTOCOL, lib.SQLITE_NOMEM, lib.SQLITE_READONLY:
			return fmt.Errorf("%w: the system fails to read or write the file: %w", fault.ErrUnavailable, err)
		}
	}
	return classify(err)
}

func isLocked(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && (e.Code()&0xff == lib.SQLITE_BUSY || e.Code()&0xff == lib.SQLITE_LOCKED)
}

// isDiskFull reports whether an extended code of SQLite stands for a full disk. SHMSIZE does, because
// SQLite returns it if it cannot extend the file of the shared memory (-shm), which each opening does.
func isDiskFull(code int) bool {
	return code&0xff == lib.SQLITE_FULL || code == lib.SQLITE_IOERR_SHMSIZE
}
