//go:build unix

package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"
)

func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func ownLowGroup(c *exec.Cmd) { ownGroup(c) }

// lowerPriority gives all threads of a group that has just been started the lowest priority, which threads that they
// start inherit. If the system refuses that, the priority stays as it is.
func lowerPriority(p *os.Process) {
	const lowest = 19
	_ = syscall.Setpriority(syscall.PRIO_PGRP, p.Pid, lowest)
}

// terminateGroup asks a process that was started in a group of its own to end, and the other
// processes of the group. It returns os.ErrProcessDone if none is left.
func terminateGroup(p *os.Process) error { return signalGroup(p, syscall.SIGTERM) }

func killGroup(p *os.Process) error { return signalGroup(p, syscall.SIGKILL) }

// signalGroup sends a signal to the process group of p, which has the number of p (ownGroup). Without any process
// left it returns os.ErrProcessDone.
func signalGroup(p *os.Process, s syscall.Signal) error {
	err := syscall.Kill(-p.Pid, s)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// lockFile uses flock, whose lock belongs to the open file and not to the process. It reports
// whether it has locked the file; if another handle has the lock, it returns false and a nil error.
func lockFile(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// mapFile shares the mapping with the file: bytes that are written to it later may be seen.
func mapFile(f *os.File, size int) ([]byte, error) {
	image, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap %s: %w", f.Name(), err)
	}
	return image, nil
}

func unmapFile(image []byte) error { return syscall.Munmap(image) }

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func syncDir(dir string) error { return syncFile(dir) }

// createUnnamed removes the name of the file at once.
func createUnnamed(dir, pattern string) (*os.File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func createShared(dir, pattern string) (*os.File, error) { return os.CreateTemp(dir, pattern) }

func openShared(path string) (*os.File, error) { return os.Open(path) }

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isExhausted counts the limit of processes too, which a fork reports as EAGAIN.
func isExhausted(err error) bool {
	for _, lack := range []error{syscall.EROFS, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, lack) {
			return true
		}
	}
	var at *fs.PathError
	return errors.As(err, &at) && at.Op == "fork/exec" && errors.Is(at.Err, syscall.EAGAIN)
}

// maxOpenFiles returns the soft limit, which Go raises to the hard one when it starts, and
// whether the system told it.
func maxOpenFiles() (uint64, bool) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return uint64(limit.Cur), err == nil
}

// freeSpace counts the blocks that users other than root may use.
func freeSpace(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// processorTime adds the time of this process and of its children, in user mode and in the kernel.
func processorTime() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil { // it fails only for an unknown who
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

func makeNewFilesPrivate() { syscall.Umask(0o077) }

// restart replaces this process by the program, with the same process id. It returns only with an
// error.
func restart() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	return fmt.Errorf("restart %s: %w", self, syscall.Exec(self, os.Args, os.Environ()))
}

// writeNow writes once, and again only after an interruption by a signal. It does not wait,
// because the file descriptors of Go's connections are non-blocking. The function that it passes
// returns true, so that RawConn.Write does not wait until the connection takes more.
func writeNow(c syscall.RawConn, b []byte) (n int) {
	_ = c.Write(func(fd uintptr) bool { // a closed connection takes nothing
		var err error
		for n, err = syscall.Write(int(fd), b); errors.Is(err, syscall.EINTR); {
			n, err = syscall.Write(int(fd), b)
		}
		return true
	})
	return max(n, 0)
}
