//go:build windows

package platform

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

func ownLowGroup(c *exec.Cmd) {
	c.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.IDLE_PRIORITY_CLASS}
}

// lowerPriority does nothing, because the process begins with its priority (ownLowGroup).
func lowerPriority(*os.Process) {}

// terminateGroup kills the group, because on Windows processes cannot be asked to end.
func terminateGroup(p *os.Process) error { return killGroup(p) }

// killGroup ends a process and its children. Windows has no call for that; taskkill comes with
// it.
func killGroup(p *os.Process) error {
	if exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run() == nil {
		return nil
	}
	return p.Kill()
}

// lockFile locks a byte behind any content, because a locked range cannot be read by others. It
// reports whether it has locked it; if another handle has the lock, it returns false and a nil
// error.
func lockFile(f *os.File) (bool, error) {
	at := windows.Overlapped{Offset: 0xFFFFFFFE, OffsetHigh: 0x7FFFFFFF}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

// mapFile closes the mapping, because the view of it that it returns keeps the mapping.
func mapFile(f *os.File, size int) ([]byte, error) {
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	defer windows.CloseHandle(h)
	address, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	// The address is not Go memory, so that vet's rule for unsafe.Pointer does not apply.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), size), nil
}

func unmapFile(image []byte) error {
	return windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(image))))
}

// syncFile opens the file for writing, because Windows syncs no other.
func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func syncDir(string) error { return nil }

func createUnnamed(dir, pattern string) (*os.File, error) {
	return createTemp(dir, pattern, windows.FILE_FLAG_DELETE_ON_CLOSE)
}

func createShared(dir, pattern string) (*os.File, error) { return createTemp(dir, pattern, 0) }

func openShared(path string) (*os.File, error) { return openWith(path, windows.GENERIC_READ, 0) }

// createTemp creates a file as os.CreateTemp does, and opens it again with the flags.
func createTemp(dir, pattern string, flags uint32) (*os.File, error) {
	named, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	err = named.Close()
	f, openErr := openWith(named.Name(), windows.GENERIC_READ|windows.GENERIC_WRITE, flags)
	if err = errors.Join(err, openErr); err != nil {
		return nil, errors.Join(err, os.Remove(named.Name()))
	}
	return f, nil
}

// openWith opens a file that exists, and lets other handles rename and remove it.
func openWith(path string, access, flags uint32) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if flags&windows.FILE_FLAG_DELETE_ON_CLOSE != 0 {
		access |= windows.DELETE
	}
	const shared = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, access, shared, nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL|flags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

func isExhausted(err error) bool {
	for _, lack := range []error{windows.ERROR_WRITE_PROTECT, windows.ERROR_TOO_MANY_OPEN_FILES, windows.ERROR_NOT_ENOUGH_MEMORY, windows.ERROR_OUTOFMEMORY, windows.ERROR_COMMITMENT_LIMIT, windows.ERROR_NO_SYSTEM_RESOURCES} {
		if errors.Is(err, lack) {
			return true
		}
	}
	return false
}

func maxOpenFiles() (uint64, bool) { return 0, false }

// freeSpace returns how many bytes this user may still write on the disk of dir: a quota may leave fewer than are
// free.
func freeSpace(dir string) (int64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, fmt.Errorf("free space of %q: %w", dir, err)
	}
	var available uint64 // to this user
	if err := windows.GetDiskFreeSpaceEx(path, &available, nil, nil); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(available), nil
}

// processorTime counts this process only: Windows keeps no time of children that have ended.
func processorTime() time.Duration {
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user) != nil {
		return 0
	}
	return ticks(kernel) + ticks(user)
}

// ticks returns a span of 100 ns ticks. Filetime.Nanoseconds is for dates.
func ticks(t windows.Filetime) time.Duration {
	return time.Duration(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) * 100
}

func makeNewFilesPrivate() {}

// restart runs the program as a child with the same streams, because Windows cannot replace a process. It returns
// when the child has ended.
func restart() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	c := exec.Command(self, os.Args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("restart %s: %w", self, err)
	}
	return nil
}

func writeNow(syscall.RawConn, []byte) int { return 0 }
