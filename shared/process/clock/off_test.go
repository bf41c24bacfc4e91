//go:build !failpoints

package clock

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What users run must not let the environment change the time by which certificates are judged.
func TestANormalBuildIgnoresTheVariable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "offset")
	require.NoError(t, os.WriteFile(file, []byte("26280h"), 0o600))
	t.Setenv("CLOCK_OFFSET", file)
	require.WithinDuration(t, time.Now(), Now(), time.Minute)
}
