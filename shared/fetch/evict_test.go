package fetch

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

// filesBelow counts the regular files below a folder.
func filesBelow(t *testing.T, dir string) (n int) {
	t.Helper()
	require.NoError(t, eachFile(dir, func(string, fs.FileInfo) { n++ }))
	return n
}

func TestEvictionRemovesTheLeastRecentlyUsedButNoPinned(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, echo(&asked))
	f := open(t, Config{CacheBytes: 10}) // two of 5 bytes
	get := func(name string) File {
		file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/" + name, Version: "1"})
		require.NoError(t, err)
		return file
	}
	pinned := get("aaaa")
	for _, name := range []string{"bbbb", "cccc", "cccc", "dddd"} {
		require.NoError(t, get(name).Close())
	}
	require.EqualValues(t, 4, asked.Load())
	require.Equal(t, "/aaaa", read(t, pinned))
	require.EqualValues(t, 10, f.cache.total)
	require.Len(t, f.cache.records, 2)
	require.Equal(t, 2, filesBelow(t, filepath.Join(f.config.Dir, blobFolder)))
	require.Equal(t, 2, filesBelow(t, filepath.Join(f.config.Dir, recordFolder)))
	get("cccc")
	require.EqualValues(t, 5, asked.Load(), "cccc had to go")
	require.NoError(t, pinned.Close())

	f2, err := New(Config{Dir: f.config.Dir, CacheBytes: 4})
	require.NoError(t, err)
	require.Zero(t, f2.cache.total, "a smaller limit holds from the start")
	require.NoError(t, f2.Close())
}

func TestACacheThatIsFullIsEvictedDownToItsLimit(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, echo(&asked))
	for limit, want := range map[int64]int64{10: 10, 9: 5} {
		f := open(t, Config{CacheBytes: limit})
		for _, name := range []string{"/aaaa", "/bbbb"} {
			file, err := f.Fetch(t.Context(), ref(s.URL+name))
			require.NoError(t, err)
			require.NoError(t, file.Close())
		}
		require.Equal(t, want, f.cache.total, "a limit of %d", limit)
		require.NoError(t, f.Close())
		reopened := open(t, Config{Dir: f.config.Dir, CacheBytes: want})
		require.Equal(t, want, reopened.cache.total)
		require.NoError(t, reopened.Close())
		smaller := open(t, Config{Dir: f.config.Dir, CacheBytes: want - 1})
		require.Equal(t, want-5, smaller.cache.total, "one had to go")
	}
}

func TestACacheThatExceedsItsLimitShrinksWhenAFileIsClosed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, echo(&asked))
	f := open(t, Config{CacheBytes: 9})
	var files []File
	for _, name := range []string{"/aaaa", "/bbbb"} {
		file, err := f.Fetch(t.Context(), ref(s.URL+name))
		require.NoError(t, err)
		files = append(files, file)
	}
	require.EqualValues(t, 10, f.cache.total, "both are in use")
	require.NoError(t, files[1].Close())
	require.EqualValues(t, 5, f.cache.total)
	require.NoError(t, files[0].Close())
	require.EqualValues(t, 5, f.cache.total, "the other one fits")
}

func TestTheOrderOfUseSurvivesARestart(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, echo(&asked))
	f := open(t, Config{})
	for name, hours := range map[string]time.Duration{"/a": 4, "/b": 2, "/c": 3} {
		file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + name, Version: "1"})
		require.NoError(t, err)
		require.NoError(t, os.Chtimes(file.Path, time.Time{}, time.Now().Add(-hours*time.Hour)))
		require.NoError(t, file.Close())
	}
	file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/a", Version: "1"})
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, f.Close())
	f = open(t, Config{Dir: f.config.Dir, CacheBytes: 4})
	require.NotNil(t, f.cache.blobs[hashOf("/a")], "it was used last, though it is the oldest")
	require.NotNil(t, f.cache.blobs[hashOf("/b")], "it was used after the third")
	require.Len(t, f.cache.blobs, 2)
}

// Otherwise old versions would fill the cache, and what is needed now would go.
func TestAVersionThatWasReplacedMayBeEvicted(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprintf(w, "%05d", asked.Add(1)) })
	f := open(t, Config{CacheBytes: 10}) // two of 5 bytes
	get := func(name, version string) {
		file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/" + name, Version: version})
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	get("a", "1")
	get("a", "2") // replaces it
	get("b", "1")
	require.EqualValues(t, 10, f.cache.total)
	get("a", "2")
	get("b", "1")
	require.EqualValues(t, 3, asked.Load(), "both are in the cache")

	file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/a", Hash: hashOf("00009")})
	require.ErrorIs(t, err, fault.ErrCorrupt, "another hash than that in the cache is asked for at the server")
	require.Zero(t, file)
	get("c", "1")
	get("d", "1")
	require.LessOrEqual(t, f.cache.total, int64(10), "the one with the other hash may go too")
}

// The last caller may leave while the download ends.
func TestADownloadThatNobodyWaitsForMayBeEvicted(t *testing.T) {
	t.Parallel()
	c := open(t, Config{CacheBytes: 8}).cache // a byte less than one content
	for callers := range 3 {
		content := fmt.Sprint("content ", callers)
		s, err := c.stage(strings.NewReader(content))
		require.NoError(t, err)
		b, err := c.publish(s, record{Key: keyOf(content), Hash: s.hash})
		require.NoError(t, err)
		c.repin(b, callers)
		for range callers {
			require.NotNil(t, c.blobs[s.hash], "%d callers", callers)
			c.unpin(b)
		}
		require.Empty(t, c.blobs, "%d callers", callers)
		require.Zero(t, c.total)
	}
}

// The disk may be as full as the cache, so a large file needs space before it comes.
func TestSpaceIsMadeBeforeAFileIsRead(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			w.Header().Set("Content-Length", "8")
		}
		echo(&asked)(w, r)
	})
	f := open(t, Config{CacheBytes: 10})
	for _, name := range []string{"/aaaa", "/bbbb"} {
		file, err := f.Fetch(t.Context(), ref(s.URL+name))
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	require.EqualValues(t, 10, f.cache.total)
	_, err := f.Fetch(t.Context(), ref(s.URL+"/large"))
	require.ErrorIs(t, err, fault.ErrUnavailable, "it has six bytes")
	require.Zero(t, f.cache.total)
}

func TestADownloadThatFailsReleasesTheContentItWouldReplace(t *testing.T) {
	t.Parallel()
	fails := false
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if fails {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_, _ = w.Write([]byte("old"))
	})
	f := open(t, Config{})
	file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL, Version: "1"})
	require.NoError(t, err)
	require.NoError(t, file.Close())
	fails = true
	_, err = f.Fetch(t.Context(), models.MediaRef{URI: s.URL, Version: "2"})
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Zero(t, f.cache.blobs[hashOf("old")].pins)
}
