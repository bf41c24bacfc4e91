package cmd

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// processTimeout is how long a test waits for another process. It is long, because the
// machine may be overloaded twentyfold.
const processTimeout = 3 * time.Minute

// awaitFile is a command of the scripts: `await-file FILE [TEXT [N]]` waits until FILE
// contains TEXT N times (default 1) or, without TEXT, anything.
func awaitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 3 {
		ts.Fatalf("usage: await-file FILE [TEXT [N]]")
	}
	times := 1
	if len(args) == 3 {
		n, err := strconv.Atoi(args[2])
		ts.Check(err)
		times = n
	}
	text := append(args, "")[1]
	for deadline := time.Now().Add(processTimeout); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && len(data) > 0 && strings.Count(string(data), text) >= times {
			return
		}
	}
	ts.Fatalf("not found: %s", strings.Join(args, ": "))
}

// copyTree is a command of the scripts: `cp-tree FROM TO` copies a folder.
func copyTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cp-tree FROM TO")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(args[0])))
}

// exits is a command of the scripts: `exits 2 leasehold nonsense` runs a command and
// checks its exit code; the script may then compare stdout and stderr.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, not %d", got, want)
	}
}
