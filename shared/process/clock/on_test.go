//go:build failpoints

package clock

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheClockIsShiftedByTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "offset")
	t.Setenv(variable, file)
	for text, want := range map[string]time.Duration{"": 0, "-1h": -time.Hour, "26280h\n": 3 * 365 * 24 * time.Hour, "soon": 0} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.WithinDuration(t, time.Now().Add(want), Now(), time.Minute, text)
	}
	require.NoError(t, os.Remove(file))
	require.WithinDuration(t, time.Now(), Now(), time.Minute)
}
