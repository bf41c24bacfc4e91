package foreign

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// stateClosed is TCP_CLOSE of Linux, the state after a reset.
const stateClosed = 7

// unsent returns how many sent bytes the other machine has not received, and whether this number is final because
// the connection was reset. An unknown number is 0, so that the client counts as having received all.
func unsent(c net.Conn) (n int, final bool) {
	s, ok := c.(syscall.Conn)
	if !ok {
		return 0, true
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return 0, true
	}
	controlErr := raw.Control(func(fd uintptr) {
		var info *unix.TCPInfo
		if info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			final = info.State == stateClosed
			n, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ)
		}
	})
	if controlErr != nil || err != nil {
		return 0, true
	}
	return n, final
}
