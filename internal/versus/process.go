package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// host runs the servers.
type host struct {
	ctx      context.Context
	dir      string
	redis    *redisServer // nil: not started yet
	postgres *postgres    // nil: not started yet
	cleanup  []func()
}

// stop ends the servers, the last one first, and waits for each.
func (h *host) stop() {
	for n := len(h.cleanup) - 1; n >= 0; n-- {
		h.cleanup[n]()
	}
}

// run starts a program, which ends with the host, and returns its process id. It runs as another user if as is
// not empty.
func (h *host) run(as, name string, args ...string) (pid int, err error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	if err := runAs(cmd, as); err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("%w (make versus installs it)", err)
	}
	h.cleanup = append(h.cleanup, func() { _ = cmd.Process.Signal(syscall.SIGINT); _ = cmd.Wait() })
	return cmd.Process.Pid, nil
}

// runAs has a command run as a user, if this program runs as root. An unknown user is an error.
// The folder of this program may be closed to that user, so the command runs in /.
func runAs(cmd *exec.Cmd, as string) error {
	if as == "" || os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup(as)
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(u.Uid) // numbers on systems that have these servers
	gid, _ := strconv.Atoi(u.Gid)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	cmd.Dir = "/"
	return nil
}

// folder makes a new folder.
func (h *host) folder(name string) (string, error) { return os.MkdirTemp(h.dir, name) }

// freeAddress returns a loopback address on which no program listens now. Another program may
// take it before the server does; then the server does not start.
func freeAddress() (host, port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer l.Close()
	return net.SplitHostPort(l.Addr().String())
}

// waitUntilStarted calls f until it succeeds, for 20 s or until ctx ends. It returns the last error of f, or the
// error of ctx.
func (h *host) waitUntilStarted(f func() error) error {
	deadline := time.Now().Add(20 * time.Second)
	for {
		err := f()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-h.ctx.Done():
			return h.ctx.Err()
		}
	}
}

// tick is the unit of the processor times in /proc.
const tick = 10 * time.Millisecond

// processorTime returns the processor time of a process, and with children also that of its running children. It
// reads /proc of Linux.
func processorTime(pid int, children bool) time.Duration {
	total := time.Duration(0)
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path) // a process may have ended
		_, rest, ok := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if err != nil || !ok || len(fields) < 13 {
			continue
		}
		own := path == fmt.Sprintf("/proc/%d/stat", pid)
		if own || children && fields[1] == strconv.Itoa(pid) {
			user, _ := strconv.Atoi(fields[11]) // the kernel prints numbers
			system, _ := strconv.Atoi(fields[12])
			total += time.Duration(user+system) * tick
		}
	}
	return total
}
