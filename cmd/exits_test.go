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

// patience bounds what another process does sooner or later, also on a machine that has
// twenty times as much to do as it can.
const patience = 3 * time.Minute

// awaitFile is a command of the scripts: `await-file FILE [TEXT [N]]` waits until FILE
// is there and holds TEXT N times, once if no N is given, or anything.
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
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		data, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && len(data) > 0 && strings.Count(string(data), text) >= times {
			return
		}
	}
	ts.Fatalf("%s is not there", strings.Join(args, ": "))
}

// copyTree is a command of the scripts: `cp-tree FROM TO` copies a folder.
func copyTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cp-tree FROM TO")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(args[0])))
}

// exits is a command of the scripts: `exits 2 leasehold nonsense` runs the rest
// and checks its exit code; stdout and stderr are then there to compare.
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
