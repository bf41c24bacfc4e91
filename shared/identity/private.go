package identity

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// UnfinishedSuffix is added to the name of a file while WritePrivate writes it. A crash may leave such a file.
const UnfinishedSuffix = ".new"

// maxPrivate is the size of the largest file that ReadPrivate reads, in bytes.
const maxPrivate = 64 << 10

// RequirePrivate refuses a file or folder that other users of the machine may use, as ssh does, with fault.ErrFolder and
// the command that changes it. On Windows it accepts all, because modes have no meaning there.
func RequirePrivate(path string, info os.FileInfo) error {
	if platform.IsPrivate(info.Mode()) {
		return nil
	}
	mode := "600"
	if info.IsDir() {
		mode = "700"
	}
	return fmt.Errorf("%s has the mode %o, so other users can read secrets in it; run: chmod %s %s: %w",
		path, info.Mode().Perm(), mode, path, fault.ErrFolder)
}

// ReadPrivate reads a file of up to 64 KiB that only its owner may read (RequirePrivate).
func ReadPrivate(path string) (data []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := RequirePrivate(path, info); err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(f, maxPrivate+1))
	if err == nil && len(data) > maxPrivate {
		return nil, fmt.Errorf("%s has more than %d bytes: %w", path, maxPrivate, fault.ErrInvalid)
	}
	return data, err
}

// WritePrivate replaces a file in one step with one that only its owner may read, and makes it durable. A reader, also
// one after a crash, finds either the whole of the previous content or the whole of the new. Two calls for one file
// must not run at a time.
func WritePrivate(path string, data []byte) (err error) {
	unfinished := path + UnfinishedSuffix
	if err := os.Remove(unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := writeNew(unfinished, data); err != nil {
		return errors.Join(err, os.Remove(unfinished))
	}
	if err := os.Rename(unfinished, path); err != nil {
		return errors.Join(err, os.Remove(unfinished))
	}
	return platform.SyncDir(filepath.Dir(path))
}

// writeNew creates a file, which must not exist because it would keep its mode, and makes its content durable.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
