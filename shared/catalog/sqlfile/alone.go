package sqlfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"leasehold/shared/catalog/sqldb"
	"leasehold/shared/process/platform"
)

// HasLog reports whether the file at path has a log with content, which is left by a killed process.
func HasLog(path string) (bool, error) {
	info, err := os.Stat(path + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > 0, err
}

// ReadUnchanged calls do with the file at path, withLog or as if it had no log, and changes
// neither. No process may have the file open. Errors are as of File.Read.
func ReadUnchanged(ctx context.Context, path string, withLog bool, do func(*sqldb.Conn) error) (err error) {
	return readUnchanged(ctx, path, withLog, func(_ *File, c *sqldb.Conn) error { return do(c) })
}

func readUnchanged(ctx context.Context, path string, withLog bool, do func(*File, *sqldb.Conn) error) (err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	source := platform.FileURI(abs)
	source.RawQuery = "immutable=1"
	if withLog {
		source.RawQuery = "mode=ro"
	}
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return err
	}
	f := &File{path: abs, db: db}
	defer func() {
		if err = errors.Join(err, f.release()); err != nil {
			err = fmt.Errorf("read %s: %w", path, classifyOpening(err))
		}
	}()
	c, err := f.connect(ctx)
	if err != nil {
		return err
	}
	return do(f, c)
}
