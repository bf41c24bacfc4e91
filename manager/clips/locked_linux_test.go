package clips

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

func TestFolderInTheFolderThatCannotBeReadIsNotGone(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"locked/b.wav": "b", "then.wav": "a"})
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // unprivilegedUser must get there,
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(dir+"/then.wav", 0o644)) // and may read this
	require.NoError(t, os.Chmod(dir+"/locked", 0))
	t.Cleanup(func() { _ = os.Chmod(dir+"/locked", 0o700) })
	o := originAt(models.Media, dir)
	visiting := lister(t, o)
	var l catalog.Listing
	unprivileged(t, func() {
		seen, err := visiting.read(t.Context(), o, models.Known{})
		require.NoError(t, err)
		l = seen.Listing
		again, err := visiting.read(t.Context(), o, models.Known{Digest: seen.digest})
		require.NoError(t, err)
		require.False(t, again.same, "what could not be read may be readable by now")
		origins, err := Detect(dir, "")
		require.NoError(t, err)
		require.Equal(t, models.Media, origins[0].Kind)
	})
	require.Equal(t, []string{"then.wav"}, names(l))
	require.Contains(t, reasons(l)["locked"], "permission denied")
	require.False(t, l.Complete)
}

func TestAFolderOrFileThatCannotBeReadIsNotDetected(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"locked/a.wav": "a", "feed": "<rss/>", "unlisted/feed": "<rss/>", "unlisted/origins.yaml": "- path: feed"})
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // unprivilegedUser must get there
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(dir+"/feed", 0))
	require.NoError(t, os.Chmod(dir+"/locked", 0))
	require.NoError(t, os.Chmod(dir+"/unlisted", 0o111)) // its files can be opened by name only
	t.Cleanup(func() { _ = errors.Join(os.Chmod(dir+"/locked", 0o700), os.Chmod(dir+"/unlisted", 0o700)) })
	for _, name := range []string{"feed", "origins.yaml"} {
		require.NoError(t, os.Chmod(dir+"/unlisted/"+name, 0o644))
	}
	unprivileged(t, func() {
		for _, name := range []string{"locked", "feed", "locked/a.wav", "unlisted/feed", "unlisted/origins.yaml", "unlisted"} {
			_, err := Detect(filepath.Join(dir, name), "")
			require.ErrorIs(t, err, fault.ErrInvalid, name)
			require.ErrorContains(t, err, "permission denied", name)
		}
	})
}

// unprivileged runs f without the rights of root, who reads everything.
func unprivileged(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() == 0 {
		const unprivilegedUser = 65534
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		require.NoError(t, syscall.Setfsuid(unprivilegedUser))
		defer func() { require.NoError(t, syscall.Setfsuid(0)) }()
	}
	f()
}
