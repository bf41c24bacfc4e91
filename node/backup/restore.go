package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"leasehold/shared/fault"
	"leasehold/shared/process/failpoint"
	"leasehold/shared/process/platform"
)

// Restore makes a data folder of the backup at src. The folder must be empty or not there, else it
// is fault.ErrConflict; a backup that is not whole is fault.ErrCorrupt, a folder without a
// manifest, or of another version, is fault.ErrInvalid; other errors are those of prepare and
// withKind. prepare may change the new folder before it gets its name. On any error but that of its
// removal, of the rename or of the last sync, the data folder is left as it was.
func Restore(ctx context.Context, src, data string, prepare func(dir string) error) error {
	if err := restore(ctx, src, data, prepare); err != nil {
		return fmt.Errorf("restore %s to %s: %w", src, data, err)
	}
	return nil
}

// restore is Restore without the names of the folders in its errors. It copies the backup into a
// folder beside data, checks the backup before and the copy after copying, because a disk may
// fail in between, lets prepare change the copy, makes it durable, and then gives it the name of
// the data folder, which is empty and is removed.
func restore(ctx context.Context, src, data string, prepare func(dir string) error) (err error) {
	if err := requireEmpty(data); err != nil {
		return err
	}
	if err := checkBackup(ctx, src); err != nil {
		return err
	}
	if err := platform.MakeFolder(filepath.Dir(data), 0o700); err != nil {
		return withKind(err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(data), "."+filepath.Base(data)+".")
	if err != nil {
		return withKind(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	if err := os.CopyFS(temp, os.DirFS(src)); err != nil {
		return withKind(err)
	}
	if err := copyModes(src, temp); err != nil {
		return withKind(err)
	}
	failpoint.Reached("restore.copied", "")
	if err := checkBackup(ctx, temp); err != nil {
		return fmt.Errorf("the copy: %w", err)
	}
	if err := os.Remove(filepath.Join(temp, Manifest)); err != nil {
		return withKind(err)
	}
	if err := prepare(temp); err != nil {
		return withKind(err)
	}
	failpoint.Reached("restore.prepared", "")
	if err := syncTree(temp); err != nil {
		return withKind(err)
	}
	if err := os.Remove(data); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return withKind(err)
	}
	return publish(temp, data)
}

// copyModes gives a copy the modes of src, which os.CopyFS leaves out: a coordinator refuses an identity that others can
// read.
func copyModes(src, dest string) error {
	return filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == src {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		return os.Chmod(filepath.Join(dest, name), info.Mode().Perm())
	})
}

func requireEmpty(dir string) error {
	names, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return withKind(err)
	case len(names) > 0:
		return fmt.Errorf("%w: it is not empty", fault.ErrConflict)
	}
	return nil
}
