package fetch

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestAPartOfAURL(t *testing.T) {
	t.Parallel()
	content := []byte("0123456789")
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/whole":
			_, _ = w.Write(content)
		case "/other":
			w.Header().Set("Content-Range", "bytes 4-5/10")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(content[4:6])
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", "audio/mpeg")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		}
	})
	f := open(t, Config{})
	for _, x := range []struct {
		first, last int64
		want        string
	}{{0, 3, "0123"}, {2, 2, "2"}, {8, 100, "89"}} {
		p, err := f.Part(t.Context(), s.URL+"/a.mp3", x.first, x.last)
		require.NoError(t, err)
		got, err := io.ReadAll(p)
		require.NoError(t, err)
		require.NoError(t, p.Close())
		require.Equal(t, x.want, string(got))
		require.Equal(t, []any{x.first, x.first + int64(len(x.want)) - 1, int64(10), "audio/mpeg"}, []any{p.First, p.Last, p.Total, p.Type})
	}
	for uri, want := range map[string]error{
		s.URL + "/whole": fault.ErrInvalid, s.URL + "/other": fault.ErrInvalid, s.URL + "/gone": fault.ErrNotFound,
		"file:///etc/passwd": fault.ErrInvalid, "http://10.0.0.1/a.mp3": fault.ErrInvalid,
	} {
		_, err := f.Part(t.Context(), uri, 0, 3)
		require.ErrorIs(t, err, want, uri)
	}
	_, err := f.Part(t.Context(), s.URL+"/a.mp3", 20, 30)
	require.ErrorIs(t, err, fault.ErrInvalid, "after the end")
}

func TestALocalFileIsOpenedBelowItsFolderOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.mp3"), []byte("sound"), 0o600))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link.mp3")))
	f := open(t, Config{Roots: []string{dir}})
	file, info, err := f.Local(FileURI(filepath.Join(dir, "a.mp3")))
	require.NoError(t, err)
	require.EqualValues(t, 5, info.Size())
	require.NoError(t, file.Close())
	for uri, want := range map[string]error{
		FileURI(filepath.Join(dir, "gone.mp3")): fault.ErrNotFound, FileURI(filepath.Join(dir, "link.mp3")): fault.ErrInvalid,
		FileURI(dir): fault.ErrInvalid, "file:///etc/passwd": fault.ErrInvalid, "https://example.org/a.mp3": fault.ErrInvalid,
	} {
		_, _, err := f.Local(uri)
		require.ErrorIs(t, err, want, uri)
	}
}
