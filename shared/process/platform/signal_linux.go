package platform

import (
	"os/exec"
	"syscall"
)

// endWithThread makes the kernel send SIGTERM to c when the thread that starts it ends, also if
// this process is killed with SIGKILL.
func endWithThread(c *exec.Cmd) { c.SysProcAttr.Pdeathsig = syscall.SIGTERM }
