package pgserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// faketime sets the clock of a process that it is loaded into.
const faketime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"

// Clocked starts the server again with a clock of its own, and returns what steps that clock by an offset such as +3600
// from the clock of the machine. Its monotonic clock stays. Where libfaketime is missing, the test is skipped.
func (s *Server) Clocked(t testing.TB) (step func(offset string)) {
	t.Helper()
	if _, err := os.Stat(faketime); err != nil {
		t.Skip("libfaketime is missing: install the package faketime")
	}
	file := filepath.Join(s.dir, "clock")
	step = func(offset string) { require.NoError(t, os.WriteFile(file, []byte(offset), 0o644)) }
	step("+0")
	s.environment = []string{"LD_PRELOAD=" + faketime, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"}
	s.Stop(t)
	s.Start(t)
	return step
}
