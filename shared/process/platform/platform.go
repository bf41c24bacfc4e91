// Package platform has what operating systems do in different ways: locks, mapped files,
// process groups, limits and counters. Each of its functions has one file for Unix systems
// (Linux, macOS, FreeBSD) and one for Windows; one signal is Linux's alone. Glob is for all systems alike.
package platform

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// KillWithChildren starts c in a process group of its own, so that its children end with it
// when its context ends. Call it before c starts.
func KillWithChildren(c *exec.Cmd) {
	OwnGroup(c)
	c.Cancel = func() error { return KillGroup(c.Process) }
}

// OwnGroup makes c start in a process group of its own. Call it before c starts.
func OwnGroup(c *exec.Cmd) { ownGroup(c) }

// RunGroup runs c in a process group of its own, which gets SIGTERM when the context of c ends and
// is killed killAfter later. When c has exited, RunGroup waits up to killAfter for processes that
// hold its output open, and kills those of the group that are left. They do not change the
// result: it is nil if c exited with code 0, also if they are killed. On Linux c also gets SIGTERM
// when this process dies. It gets that when its thread ends, so the thread must not end before.
func RunGroup(c *exec.Cmd, killAfter time.Duration) error {
	OwnGroup(c)
	return runGroup(c, killAfter, func(*os.Process) {})
}

// RunInBackground is RunGroup with the lowest priority, so that the group does not slow down other programs.
func RunInBackground(c *exec.Cmd, killAfter time.Duration) error {
	ownLowGroup(c)
	return runGroup(c, killAfter, lowerPriority)
}

// runGroup is RunGroup for a command that has its group. It calls started with the process.
func runGroup(c *exec.Cmd, killAfter time.Duration, started func(*os.Process)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c.WaitDelay = killAfter
	endWithThread(c)
	c.Cancel = func() error { return terminateGroup(c.Process) }
	err := c.Start()
	if err == nil {
		started(c.Process)
		err = c.Wait()
	}
	if c.Process != nil {
		_ = KillGroup(c.Process) // usually none is left
	}
	if errors.Is(err, exec.ErrWaitDelay) { // only after exit code 0
		return nil
	}
	return err
}

// KillGroup ends a process that was started in a group of its own, and the other processes of
// the group. It returns os.ErrProcessDone if none is left.
func KillGroup(p *os.Process) error { return killGroup(p) }

// LockFile locks an open file for this handle alone, and does not wait. It returns false if
// another handle has locked the file, also one of this process. The lock ends when the file is
// closed or the process ends.
func LockFile(f *os.File) (bool, error) { return lockFile(f) }

// MapFile maps the first size bytes of a file into memory, to be read only. The mapping stays
// valid after the file is closed, until UnmapFile.
func MapFile(f *os.File, size int) ([]byte, error) { return mapFile(f, size) }

// UnmapFile ends a mapping of MapFile. Its bytes must not be read afterwards.
func UnmapFile(image []byte) error { return unmapFile(image) }

// SyncFile makes the content of a file durable.
func SyncFile(path string) error { return syncFile(path) }

// SyncDir makes the names in a folder durable: those of created, renamed and removed files. On
// Windows it does nothing, because a folder cannot be synced there and NTFS keeps a journal of names.
func SyncDir(dir string) error { return syncDir(dir) }

// CreateUnnamed creates a file in a folder to write and to read, which is gone when it is closed or
// the process ends, however it ends.
func CreateUnnamed(dir, pattern string) (*os.File, error) { return createUnnamed(dir, pattern) }

// CreateShared is os.CreateTemp, and OpenShared is os.Open, for a file that is renamed or removed
// while it is open. Windows forbids that unless each of its handles permits it.
func CreateShared(dir, pattern string) (*os.File, error) { return createShared(dir, pattern) }

// OpenShared is described at CreateShared.
func OpenShared(path string) (*os.File, error) { return openShared(path) }

// IsPrivate reports whether only the owner may use a file or folder with this mode. On Windows it is
// always true, because modes tell nothing there.
func IsPrivate(mode os.FileMode) bool { return isWindows || mode.Perm()&0o077 == 0 }

// Exhausted reports whether err means that this machine or process lacks what any work needs: space on a disk, a disk
// that can be written, memory, file descriptors or processes.
func Exhausted(err error) bool { return isDiskFull(err) || isExhausted(err) }

// IsDiskFull reports whether err means that a disk or a quota of it is full.
func IsDiskFull(err error) bool { return isDiskFull(err) }

// WriteNow writes to a connection as far as the system takes it without waiting, and returns
// how many bytes it took: 0 also if the connection has failed, and always on Windows. No other
// write to the connection may be under way.
func WriteNow(c syscall.RawConn, b []byte) int { return writeNow(c, b) }
