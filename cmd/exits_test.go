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

// patience is how long a script waits for what another process does.
const patience = 30 * time.Second

// awaitFile is a command of the scripts: `await-file FILE [TEXT]` waits until FILE is
// there and holds TEXT, or anything.
func awaitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: await-file FILE [TEXT]")
	}
	text := append(args, "")[1]
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(time.Millisecond) {
		if data, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && len(data) > 0 && strings.Contains(string(data), text) {
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
