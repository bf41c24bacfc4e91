package fetch

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

// A server must not answer "not modified" to a machine that lost its copy, or never had one.
func TestOnlyContentThatIsStillThereIsAConditionOfARequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ etag, modified, wantETag, wantModified string }{
		"both validators": {`"v"`, "Mon, 02 Jan 2006 15:04:05 GMT", `"v"`, ""},
		"a date only":     {"", "Mon, 02 Jan 2006 15:04:05 GMT", "", "Mon, 02 Jan 2006 15:04:05 GMT"},
		"neither":         {"", "", "", ""},
	} {
		var sent http.Header
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			sent = r.Header
			for name, value := range map[string]string{"ETag": c.etag, "Last-Modified": c.modified} {
				if value != "" {
					w.Header().Set(name, value)
				}
			}
			_, _ = w.Write([]byte("content"))
		})
		f := open(t, Config{})
		fetch := func(version string) File {
			file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/a", Version: version})
			require.NoError(t, err, name)
			require.Equal(t, "content", read(t, file), name)
			require.NoError(t, file.Close())
			return file
		}
		fetch("1")
		require.Empty(t, sent.Get("If-None-Match")+sent.Get("If-Modified-Since"), name)
		file := fetch("2")
		require.Equal(t, c.wantETag, sent.Get("If-None-Match"), name)
		require.Equal(t, c.wantModified, sent.Get("If-Modified-Since"), name)
		require.NoError(t, os.Remove(file.Path))
		fetch("3")
		require.Empty(t, sent.Get("If-None-Match")+sent.Get("If-Modified-Since"), name)
	}
}

func TestTheFolderOfAnOriginThatWasRemovedIsNotFound(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "clips")
	clip := write(t, filepath.Join(dir, "a.wav"), "a")
	f := open(t, Config{})
	require.NoError(t, f.Trust(models.Origin{Kind: models.Clips, URI: dir}))
	require.NoError(t, os.RemoveAll(dir))
	_, err := f.Fetch(t.Context(), ref(FileURI(clip)))
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = f.Document(t.Context(), FileURI(clip), 10)
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = f.Folder(dir)
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestACacheInPlaceOfAFileIsAnError(t *testing.T) {
	t.Parallel()
	file := write(t, filepath.Join(t.TempDir(), "file"), "x")
	_, err := New(Config{Dir: filepath.Join(file, "cache")})
	require.ErrorContains(t, err, filepath.Join(file, "cache"))
}

func TestAGuardedClientReachesOnlyWhatIsPublicOrAllowed(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	for _, target := range []string{s.URL, "http://10.1.2.3/", "http://[::1]/", "ftp://example.org/", "example.org", "://"} {
		_, err := NewGuardedClient(target, nil, time.Second)
		require.ErrorIs(t, err, fault.ErrInvalid, target)
	}
	_, err := NewGuardedClient("https://example.org/", []string{"not a host"}, time.Second)
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = NewGuardedClient("https://example.org/", nil, time.Second)
	require.NoError(t, err)
	c, err := NewGuardedClient(s.URL, []string{"127.0.0.0/8"}, 10*time.Second)
	require.NoError(t, err)
	defer c.CloseIdleConnections()
	r, err := c.Get(s.URL)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusFound, r.StatusCode, "a redirect is not followed")
}
