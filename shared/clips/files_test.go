package clips

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilesAreTheRecordingsOfAFolderByName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"b.wav", "a.MP3", "notes.txt", ".hidden.wav", ".git/c.wav", "more/c.flac"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	got, err := Files(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"a.MP3", "b.wav", "more/c.flac"}, got)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	got, err = Files(link)
	require.NoError(t, err)
	require.Equal(t, []string{"a.MP3", "b.wav", "more/c.flac"}, got, "the folder is a link")
	_, err = Files(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
