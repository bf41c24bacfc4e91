package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestWriteReplacesWhatIsBetweenTheMarks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "doc.md")
	require.NoError(t, os.WriteFile(path, []byte("before\n"+Begin+"\nold\n"+End+"\nafter\n"), 0o600))
	for range 2 {
		require.NoError(t, Write(path, "new"))
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "before\n"+Begin+"\n\nnew\n"+End+"\nafter\n", string(got))
	}
	require.NoError(t, os.WriteFile(path, []byte("no marks"), 0o600))
	require.ErrorIs(t, Write(path, "new"), fault.ErrInvalid)
}
