package cmd

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A link to itself stands for a file without permission, which root could read.
func TestAClipThatCannotBeReadDoesNotHideTheFaultsOfTheOthers(t *testing.T) {
	t.Parallel()
	clips := t.TempDir()
	require.NoError(t, os.Symlink("loop.wav", filepath.Join(clips, "loop.wav")))
	require.NoError(t, os.WriteFile(filepath.Join(clips, "quiet.wav"), liveWAV(make([]int16, 8000)), 0o600))
	var out, errors bytes.Buffer
	code := (&app{out: &out, err: &errors}).run(t.Context(), []string{"clips", "check", clips, "-o", "csv"})
	require.Equal(t, 1, code)
	require.Empty(t, errors.String())
	require.Contains(t, out.String(), "\nloop.wav,unreadable,too many levels of symbolic links,replace it,,0\n")
	require.Contains(t, out.String(), "\nquiet.wav,silent,")
}
