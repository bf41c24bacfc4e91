package sqlfile

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"leasehold/shared/fault"
)

// classify adds the kind of package fault to an error of SQLite: fault.ErrCorrupt,
// fault.ErrOverloaded for a full disk, and fault.ErrConflict for a file that is in use. Any other
// error, and nil, stay as they are.
func classify(err error) error {
	var e *driver.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_NOTADB, lib.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", fault.ErrCorrupt, err)
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w: the disk is full: %w", fault.ErrOverloaded, err)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%w: another process or handle holds it: %w", fault.ErrConflict, err)
	}
	return err
}
