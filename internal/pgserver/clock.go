package pgserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/internal/faketime"
)

// Clocked starts the server again with a clock of its own, and returns what steps that clock by an offset such as +3600
// from the clock of the machine. Its monotonic clock stays. Where libfaketime is missing, the test is skipped.
func (s *Server) Clocked(t testing.TB) (step func(offset string)) {
	t.Helper()
	if !faketime.Installed() {
		t.Skip("libfaketime is missing: install the package faketime")
	}
	file := filepath.Join(s.dir, "clock")
	step = func(offset string) { require.NoError(t, os.WriteFile(file, []byte(offset), 0o644)) }
	step("+0")
	s.environment = append(faketime.Environment(file), "FAKETIME_NO_CACHE=1")
	s.Stop(t)
	s.Start(t)
	return step
}
