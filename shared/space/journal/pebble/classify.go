package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	lsm "github.com/cockroachdb/pebble/v2"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/journal"
)

// classify gives an error of the store or the system its kind: fault.ErrCorrupt,
// fault.ErrPermission or fault.ErrFolder. Others, and nil, are returned as they are.
func classify(err error) error {
	switch {
	case err == nil, errors.Is(err, fault.ErrCorrupt):
		return err
	case errors.Is(err, lsm.ErrCorruption):
		return fmt.Errorf("%w: %w", fault.ErrCorrupt, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", fault.ErrPermission, err)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %w", fault.ErrFolder, err)
	}
	return err
}

func opOf(f journal.Forgotten) space.OpID { return space.OpID(f) }
