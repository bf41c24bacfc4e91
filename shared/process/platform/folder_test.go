package platform_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/process/platform"
)

func TestALinkToNothingIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for link, target := range map[string]string{"dangling": "nowhere", "loop": "loop", "good": "there"} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "there"), 0o700))
	require.NoError(t, platform.MakeFolder(filepath.Join(dir, "good", "new"), 0o700))
	require.DirExists(t, filepath.Join(dir, "there", "new"))
	for path, want := range map[string]string{"dangling": "dangling is a symbolic link to nowhere", "dangling/below": "dangling is a symbolic link to nowhere", "loop": "loop is a symbolic link to loop"} {
		require.ErrorContains(t, platform.MakeFolder(filepath.Join(dir, path), 0o700), want+", which leads to nothing")
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	require.ErrorContains(t, platform.MakeFolder(filepath.Join(dir, "file"), 0o700), "not a directory")
}
