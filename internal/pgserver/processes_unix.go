//go:build unix

package pgserver

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// identity returns the user and group that the server runs as, because PostgreSQL refuses root: the user
// postgres, or the user nobody if there is none. ok is false if this process is not root: then it needs no other user.
func identity() (uid, gid int, ok bool, err error) {
	if os.Getuid() != 0 {
		return 0, 0, false, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return 0, 0, false, err
	}
	if uid, err = strconv.Atoi(u.Uid); err == nil {
		gid, err = strconv.Atoi(u.Gid)
	}
	return uid, gid, err == nil, err
}

// own gives a file to the user of the server.
func own(path string) error {
	uid, gid, ok, err := identity()
	if !ok {
		return err
	}
	return os.Chown(path, uid, gid)
}

// runAs makes c run as the user of the server.
func runAs(c *exec.Cmd) error {
	uid, gid, ok, err := identity()
	if ok {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	return err
}

// apart keeps signals of the terminal from c.
func apart(c *exec.Cmd) {
	if c.SysProcAttr == nil {
		c.SysProcAttr = &syscall.SysProcAttr{}
	}
	c.SysProcAttr.Setpgid = true
}

// interrupt is what PostgreSQL calls a fast shutdown.
func interrupt(pid int) error { return syscall.Kill(pid, syscall.SIGINT) }
func kill(pid int) error      { return syscall.Kill(pid, syscall.SIGKILL) }
func suspend(pid int) error   { return syscall.Kill(pid, syscall.SIGSTOP) }
func resume(pid int) error    { return syscall.Kill(pid, syscall.SIGCONT) }
