package platform_test

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/process/platform"
)

func TestFilesAreFoundInAFolderWhoseNameHasSignsOfAPattern(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "[a]*?")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "sub-1"), 0o700))
	for _, name := range []string{"x.seg", "y.seg", "z", "sub-1/s"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	for pattern, want := range map[string][]string{"*.seg": {"x.seg", "y.seg"}, "sub-*/s": {"sub-1/s"}, "none*": nil} {
		got, err := platform.Glob(folder, pattern)
		require.NoError(t, err)
		for i := range want {
			want[i] = filepath.Join(folder, want[i])
		}
		require.Equal(t, want, got, pattern)
	}
	none, err := platform.Glob(filepath.Join(folder, "absent"), "*")
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = platform.Glob(folder, "[")
	require.ErrorIs(t, err, path.ErrBadPattern)
}
