package pebble

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logNumber returns the number of a log by its name, and reports whether it is the name of one.
func logNumber(name string) (uint32, bool) {
	number, ok := strings.CutSuffix(name, ".log")
	n, err := strconv.ParseUint(number, 10, 32)
	return uint32(n), ok && err == nil
}

func isTable(name string) bool { return strings.HasSuffix(name, ".sst") }

func isLog(name string) bool {
	_, ok := logNumber(name)
	return ok
}

func deleteFunc(names []string, drop func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(names), drop)
}

// readFile reads a whole file. The file is closed in any case.
func readFile(fs vfs.FS, path string) (data []byte, err error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(f)
}

// writeFile writes a file whole or not at all, also across a loss of power: it writes another name, syncs, renames
// and syncs the folder. After an error that name, with .new, may be left. A file system may keep data, so it gets a
// copy.
func writeFile(fs vfs.FS, path string, data []byte) error {
	temp := path + ".new"
	f, err := fs.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(slices.Clone(data))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := fs.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(fs, fs.PathDir(path))
}

// syncDir makes the names in a folder durable, as they are now, after a file was made, renamed or removed.
func syncDir(fs vfs.FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// truncate ends a file at size, durably. size is at most the file's. If the file system cannot do that, it writes the
// file again.
func truncate(fs vfs.FS, path string, size int) error {
	f, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if f, ok := f.(interface{ Truncate(size int64) error }); ok {
		err = f.Truncate(int64(size))
		return errors.Join(err, f.(vfs.File).Sync(), f.(vfs.File).Close())
	}
	data, err := readFile(fs, path)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return writeFile(fs, path, data[:size])
}
