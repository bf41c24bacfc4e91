// Package datadir keeps a data folder to one process at a time: a coordinator's, or
// the one that a manager or a worker has of its own.
//
// The lock is the operating system's, so that it ends with the process,
// however that ends; the file in the folder names who holds it, for people. It
// holds between processes, and between two locks of one process.
package datadir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// lockFile names the holder of a data folder and is locked by it.
const lockFile = "LOCK"

// Lock makes this process the only one that uses a data folder, which it creates
// if need be. fault.ErrConflict names the process that holds it already;
// fault.ErrFolder and fault.ErrPermission mean that the folder cannot be made or used.
// Release gives it up; the end of the process does too.
func Lock(dir string) (release func() error, err error) {
	if err := platform.MakeFolder(dir, 0o700); err != nil {
		return nil, unusable(err)
	}
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unusable(err)
	}
	switch locked, err := platform.LockFile(f); {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("data folder: lock %s: %w", path, err), f.Close())
	case !locked:
		defer f.Close()
		return nil, fmt.Errorf("data folder %s is in use by %s: %w", dir, holder(f), fault.ErrConflict)
	}
	if err := sign(f); err != nil {
		return nil, errors.Join(unusable(err), f.Close())
	}
	return f.Close, nil
}

// retry is how long LockWithin waits between two attempts, because the operating system cannot wait
// for a lock and for ctx.
const retry = 50 * time.Millisecond

// LockWithin is Lock, and waits up to timeout for a process that holds the folder, because a command
// holds it for a moment only. It calls held once with the error that names the process, before it
// waits. With a timeout of 0 it does neither. If ctx ends first, the error is ctx's cause.
func LockWithin(ctx context.Context, dir string, timeout time.Duration, held func(error)) (release func() error, err error) {
	release, err = Lock(dir)
	if !errors.Is(err, fault.ErrConflict) || timeout <= 0 {
		return release, err
	}
	held(err)
	again := time.NewTicker(retry)
	defer again.Stop()
	for end := time.Now().Add(timeout); errors.Is(err, fault.ErrConflict) && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-again.C:
			release, err = Lock(dir)
		}
	}
	return release, err
}

// unusable adds the kind of an error of the system: fault.ErrPermission or fault.ErrFolder. A denied permission
// names the user, because in a container it is often not the owner of the folder.
func unusable(err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("data folder: %w: %w", err, fault.ErrFolder)
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = errors.New(at.Path) // the message below has the rest
	}
	return fmt.Errorf("data folder: user %d cannot write %w; chown the folder to that user, or name another one with --data: %w", os.Getuid(), err, fault.ErrPermission)
}

// sign writes that this process holds the lock, with its command. Its other arguments may have secrets.
func sign(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+" "+command()+"\n"), 0)
	return err
}

// command returns the name of the program and of its command, such as "leasehold worker".
func command() string {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		return os.Args[0] + " " + os.Args[1]
	}
	return os.Args[0]
}

// holder returns the process that holds the lock, for errors; "another process" if the file does
// not tell which.
func holder(f *os.File) string {
	const longest = 512
	buf := make([]byte, longest)
	n, _ := f.ReadAt(buf, 0) // usually io.EOF, because the file is shorter
	pid, command, ok := strings.Cut(strings.TrimSpace(string(buf[:n])), " ")
	if !ok {
		return "another process"
	}
	return fmt.Sprintf("process %s (%s)", pid, command)
}
