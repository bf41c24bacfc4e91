package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"leasehold/shared/fault"
	"leasehold/shared/process/failpoint"
)

// A Part is one file or folder of a backup.
type Part struct {
	Name string // in the backup and in a data folder
	// Copy writes a copy of it to path, which does not exist. It need not sync.
	Copy func(ctx context.Context, path string) error
}

// Source is the data folder of a backup: its instance id and the counter of its stores.
// The zero Source is of a folder that has none yet.
type Source struct {
	Instance string `json:"instance,omitempty"`
	Counter  uint64 `json:"counter,omitempty"`
}

// Make writes a backup of the parts of a data folder to dest, an absolute path. It copies the parts in their
// order into a folder beside dest, and renames it to dest when it is complete and synced. Make fails with
// fault.ErrConflict if dest exists, with fault.ErrInvalid for a relative path, and with fault.ErrTooLarge for too
// many files. After an error dest is as it was before, unless only the last sync failed.
func Make(ctx context.Context, dest string, source Source, parts ...Part) (err error) {
	if err := requireAbsent(dest); err != nil {
		return fmt.Errorf("backup to %s: %w", dest, err)
	}
	temp, err := os.MkdirTemp(filepath.Dir(dest), "."+filepath.Base(dest)+".")
	if err != nil {
		return fmt.Errorf("backup to %s: %w", dest, withKind(err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	for _, p := range parts {
		if err := p.Copy(ctx, filepath.Join(temp, p.Name)); err != nil {
			return fmt.Errorf("backup of %s to %s: %w", p.Name, dest, withKind(err))
		}
	}
	failpoint.Reached("backup.copied", "")
	if err := errors.Join(writeManifest(ctx, temp, source), syncTree(temp)); err != nil {
		return fmt.Errorf("backup to %s: %w", dest, withKind(err))
	}
	return publish(temp, dest)
}

// RequireOutside refuses a backup at dest that would be inside the data folder, because it would be lost with the
// folder: fault.ErrInvalid. Symbolic links are followed.
func RequireOutside(dest, data string) error {
	parent, err := filepath.EvalSymlinks(filepath.Dir(dest))
	if err != nil {
		return fmt.Errorf("backup to %s: %w", dest, withKind(err))
	}
	if data, err = filepath.EvalSymlinks(data); err != nil {
		return fmt.Errorf("data folder: %w", withKind(err))
	}
	if rel, err := filepath.Rel(data, parent); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("backup to %s: %w: it is inside the data folder %s: give a folder outside of it", dest, fault.ErrInvalid, data)
	}
	return nil
}

func requireAbsent(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%w: want an absolute path", fault.ErrInvalid)
	}
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return fmt.Errorf("%w: it exists", fault.ErrConflict)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return withKind(err)
}

// publish gives a finished folder its name, durably. dest must not exist. It returns an error of
// the rename, with its kind, or of the sync after it, without one: then the folder has its name.
func publish(temp, dest string) error {
	failpoint.Reached("publish.before", "")
	if err := os.Rename(temp, dest); err != nil {
		return withKind(err)
	}
	failpoint.Reached("publish.after", "")
	return syncPath(filepath.Dir(dest))
}

// writeManifest writes the manifest of a folder of finished parts into it. It refuses a list of maxManifest bytes
// or more, because checkBackup would refuse it.
func writeManifest(ctx context.Context, dir string, source Source) error {
	files, err := measureFiles(ctx, dir)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(manifest{Version: version, Source: source, Files: files}, "", "  ")
	if err != nil {
		return err
	}
	if len(data) >= maxManifest {
		return fmt.Errorf("%d files: %w: their list would have %d bytes, at most %d", len(files), fault.ErrTooLarge, len(data), maxManifest)
	}
	return os.WriteFile(filepath.Join(dir, Manifest), append(data, '\n'), 0o600)
}

// syncTree makes all files and folders below dir durable, and dir itself. It stops at the first error.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return syncPath(path)
	})
}

// syncPath makes one file durable, or the names in one folder.
func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// withKind gives an error of the system its kind: fault.ErrPermission, fault.ErrOverloaded for a
// full disk, else fault.ErrFolder. An error that has one, and nil, stay as they are.
func withKind(err error) error {
	switch {
	case err == nil || fault.Of(err).Kind != nil:
		return err
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: %w", fault.ErrPermission, err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w: %w", fault.ErrOverloaded, err)
	}
	return fmt.Errorf("%w: %w", fault.ErrFolder, err)
}
