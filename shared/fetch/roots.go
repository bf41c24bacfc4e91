package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// roots are the folders below which local files may be read.
type roots struct {
	mu      sync.RWMutex
	folders []string // guarded by mu; clean, absolute
}

func (r *roots) add(folder string) error {
	if !filepath.IsAbs(folder) {
		return fmt.Errorf("root %q: want an absolute path: %w", folder, fault.ErrInvalid)
	}
	folder = filepath.Clean(folder)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.folders, folder) {
		r.folders = append(r.folders, folder)
	}
	return nil
}

// locate returns the shortest root above path, and path relative to it; fault.ErrInvalid
// if there is none. The shortest is used, because links may lead anywhere within a folder
// that the operator allowed.
func (r *roots) locate(path string) (root, rel string, err error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, folder := range r.folders {
		in, err := filepath.Rel(folder, path)
		if err == nil && filepath.IsLocal(in) && (root == "" || len(folder) < len(root)) {
			root, rel = folder, in
		}
	}
	if root == "" {
		return "", "", &refusal{fmt.Errorf("not below a folder that the operator allowed: %w", fault.ErrInvalid)}
	}
	return root, rel, nil
}

// open opens a regular file below a root. Links must not lead out of the root. The caller closes the file.
func (r *roots) open(path string) (*os.File, fs.FileInfo, error) {
	dir, rel, err := r.locate(path)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, fileError(err)
	}
	defer root.Close()
	f, info, err := OpenRegular(root, rel)
	if err != nil {
		return nil, nil, fileError(err)
	}
	return f, info, nil
}

// OpenRegular opens a regular file of a folder, with its info, to be read. The caller closes it. It
// opens without blocking, because opening a pipe would wait for its writer otherwise. Anything but
// a regular file is refused. The error is a *fs.PathError.
func OpenRegular(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("not a regular file but %s", typeName(info.Mode()))}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// folder opens a root or a folder below one. The caller closes it.
func (r *roots) folder(path string) (*os.Root, error) {
	dir, rel, err := r.locate(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fileError(err)
	}
	if rel == "." {
		return root, nil
	}
	defer root.Close()
	sub, err := root.OpenRoot(rel)
	if err != nil {
		return nil, fileError(err)
	}
	return sub, nil
}

// fileError returns an error of the file system with its kind, and without the operation
// and the path, which the callers add: fault.ErrNotFound, fault.ErrOverloaded for a full
// disk, otherwise fault.ErrInvalid.
func fileError(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("no such file: %w", fault.ErrNotFound)
	case platform.IsDiskFull(err):
		return fmt.Errorf("%w: %w", err, fault.ErrOverloaded)
	case strings.Contains(err.Error(), "escapes"): // os.Root has no sentinel for it
		return &refusal{fmt.Errorf("leads out of the folder that the operator allowed: %w", fault.ErrInvalid)}
	}
	return fmt.Errorf("%w: %w", err, fault.ErrInvalid)
}

// typeName names the type of a file for an error. The file is neither regular nor a link.
func typeName(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
