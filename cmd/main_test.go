package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/config"
	"leasehold/shared/process/datadir"
)

// binaryDir is where the real binary is, once a test has asked for it.
var binaryDir string

var makeBinary = sync.OnceValue(func() (err error) {
	if binaryDir, err = os.MkdirTemp("", "leasehold-cmd-"); err != nil {
		return err
	}
	return binary.Build(filepath.Join(binaryDir, "leasehold"))
})

// realBinary makes the real binary, once for all tests, and returns the folder that
// it is in.
func realBinary(t testing.TB) string {
	t.Helper()
	require.NoError(t, makeBinary())
	return binaryDir
}

func TestMain(m *testing.M) {
	if os.Getenv(signalTwiceEnv) != "" {
		signalTwice()
		return
	}
	code := m.Run()
	_ = os.RemoveAll(binaryDir)
	os.Exit(code)
}

// TestScripts runs each command as a user would, with the real binary:
// testdata/script/*.txtar. The command `exits CODE leasehold …` checks the exit
// code.
func TestScripts(t *testing.T) {
	t.Parallel()
	bin := realBinary(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "cp-tree": copyTree, "await-file": awaitFile,
			"where": where, "free-addresses": freeAddresses, "await-state": awaitState, "await-log": awaitLog, "await-researched": awaitResearched,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("BIN", bin)
			e.Setenv("HOME", e.WorkDir)
			example, err := filepath.Abs("../examples/podcast")
			e.Setenv("EXAMPLE", example)
			return err
		},
	})
}

func TestTheLogIsAsConfigured(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	a := &app{err: &buf}
	cfg := config.Config{LogLevel: slog.LevelInfo, LogFormat: config.LogJSON}
	a.newLogger(cfg).Debug("no")
	require.Empty(t, buf.String())
	a.newLogger(cfg).Info("yes\nand no")
	require.Contains(t, buf.String(), `"msg":"yes\nand no"`)
	cfg.LogFormat = config.LogText
	a.newLogger(cfg).Info("a\nb")
	require.Contains(t, buf.String(), `msg="a\nb"`)
}

func TestDurationsInTheLogHaveUnits(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{config.LogJSON: `"took":"1.5s"`, config.LogText: "took=1.5s"} {
		var buf bytes.Buffer
		a := &app{err: &buf}
		a.newLogger(config.Config{LogFormat: format}).With("x", 1).WithGroup("g").Error("done", "took", 1500*time.Millisecond)
		require.Contains(t, buf.String(), strings.Replace(want, "took=", "g.took=", 1))
	}
}

func TestStartLinesAreJSONIfTheLogIs(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	a := &app{err: &buf}
	at := datadir.Addresses{Gate: "127.0.0.1:7411", HTTP: "127.0.0.1:7412", CA: "x", Compat: "127.0.0.1:7413", Gates: []string{"pspace 127.0.0.1:1"}}
	cfg := config.Config{LogFormat: config.LogJSON, LogLevel: slog.LevelError, Data: "/d", Insecure: true}
	a.sayAddresses(cfg, at)
	a.printSession(cfg, config.Worker)("worker-1", "127.0.0.1:7411")
	for line := range strings.Lines(buf.String()) {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &fields), line)
	}
	require.Equal(t, 5, strings.Count(buf.String(), "\n"))
	require.Contains(t, buf.String(), `"msg":"coordinator: started","gate":"127.0.0.1:7411","dashboard":"https://127.0.0.1:7412","data":"/d"`)
	require.Contains(t, buf.String(), `"msg":"worker: started","session":"worker-1","gate":"127.0.0.1:7411"`)
	buf.Reset()
	cfg.LogFormat = config.LogText
	a.printSession(cfg, config.Worker)("worker-1", "127.0.0.1:7411")
	require.Equal(t, "worker: session worker-1 at 127.0.0.1:7411\n", buf.String())
}

func TestATableKeepsControlCharactersFromTheTerminal(t *testing.T) {
	t.Parallel()
	var buf bytes.Buffer
	tab := (&app{out: &buf}).newTable("A", "B")
	tab.row("x\x1b[31m\ty\n", "z")
	require.NoError(t, tab.print())
	require.Equal(t, "A     B\nx y   z\n", buf.String())
}

func TestRunReturnsTheExitCodeOfTheErrorsKind(t *testing.T) {
	t.Parallel()
	var out, err bytes.Buffer
	a := &app{out: &out, err: &err}
	require.Equal(t, 2, a.run(context.Background(), []string{"nonsense"}))
	require.Equal(t, 0, a.run(context.Background(), []string{"version"}))
	require.Contains(t, out.String(), "leasehold ")
}
