// Package gosource finds Go's own sources, which tests and benchmarks use as a corpus that every machine has.
package gosource

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Folder returns the folder src of the installed Go. It asks the command, because a test that was built
// with -trimpath does not know where Go is.
func Folder(tb testing.TB) string {
	tb.Helper()
	out, err := exec.CommandContext(tb.Context(), "go", "env", "GOROOT").Output()
	require.NoError(tb, err)
	return filepath.Join(strings.TrimSpace(string(out)), "src")
}
