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

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
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
