package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
)

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hashPrefix + hex.EncodeToString(sum[:])
}

// echo responds with the path, and counts requests.
func echo(asked *atomic.Int32) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(r.URL.Path))
	}
}

func TestSameVersionIsFetchedOnceAcrossRestarts(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, echo(&asked))
	dir := t.TempDir()
	for range 2 {
		f := open(t, Config{Dir: dir})
		for range 2 {
			file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/a", Version: "1"})
			require.NoError(t, err)
			require.Equal(t, "/a", read(t, file))
			require.Equal(t, hashOf("/a"), file.Hash)
			hex := strings.TrimPrefix(file.Hash, hashPrefix)
			require.Equal(t, filepath.Join(dir, "sha256", hex[:2], hex), file.Path, "where later versions look for it")
			require.EqualValues(t, 2, file.Bytes)
			require.NoError(t, file.Close())
			require.NoError(t, file.Close())
		}
		require.NoError(t, f.Close())
	}
	require.EqualValues(t, 1, asked.Load())

	f := open(t, Config{Dir: dir})
	_, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/a", Version: "2"})
	require.NoError(t, err)
	require.EqualValues(t, 2, asked.Load())
	_, err = f.Fetch(t.Context(), models.MediaRef{URI: unused + "/elsewhere", Hash: hashOf("/a")})
	require.NoError(t, err, "a known hash needs no network")
}

func TestUnchangedContentIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"ETag", "Last-Modified"} {
		var bodies, asked atomic.Int32
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(header, `"v"`)
			asked.Add(1)
			if r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Modified-Since") != "" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			echo(&bodies)(w, r)
		})
		f := open(t, Config{})
		for _, version := range []string{"", "", "2", "3"} {
			file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/a", Version: version})
			require.NoError(t, err)
			require.Equal(t, "/a", read(t, file))
			require.NoError(t, file.Close())
		}
		require.EqualValues(t, 1, bodies.Load())
		require.EqualValues(t, 4, asked.Load())
		file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/a", Version: "3"})
		require.NoError(t, err)
		require.NoError(t, file.Close())
		require.EqualValues(t, 4, asked.Load(), "the version that was not changed is known")
		require.Zero(t, f.cache.blobs[hashOf("/a")].pins)
	}
}

func TestOtherContentThanTheHashIsCorrupt(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, echo(&asked))
	f := open(t, Config{})
	_, err := f.Fetch(t.Context(), ref(s.URL+"/a"))
	require.NoError(t, err)
	_, err = f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/a", Hash: hashOf("other")})
	require.ErrorIs(t, err, fault.ErrCorrupt)
	require.Empty(t, partials(t, f))
	for _, bad := range []string{"sha256:../../etc/passwd", "md5:00", "sha256:" + strings.Repeat("A", 64)} {
		_, err = f.Fetch(t.Context(), models.MediaRef{URI: s.URL, Hash: bad})
		require.ErrorIs(t, err, fault.ErrInvalid)
	}
}

func TestFilesInACacheThatAreNotItsOwnAreNoContent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hex := strings.TrimPrefix(hashOf("x"), hashPrefix)
	write(t, filepath.Join(dir, blobFolder, hex[:2], hex), "x")
	write(t, filepath.Join(dir, blobFolder, "00", hex), "in another folder")
	write(t, filepath.Join(dir, blobFolder, hex[:2], "notes"), "without a hash")
	write(t, filepath.Join(dir, recordFolder, "a", "a.json"), `{"key":"a","hash":"`+hashOf("x")+`"}`)
	write(t, filepath.Join(dir, recordFolder, "no.json"), `{"hash":"`+hashOf("x")+`"}`)
	key := keyOf("http://example.org/")
	write(t, filepath.Join(dir, recordFolder, key[:2], key[:63]+".json"), `{"key":"`+key[:63]+`","hash":"`+hashOf("x")+`"}`)
	write(t, filepath.Join(dir, recordFolder, "00", key+".json"), `{"key":"`+key+`","hash":"`+hashOf("x")+`"}`)
	lost := keyOf("http://example.org/lost")
	write(t, filepath.Join(dir, recordFolder, lost[:2], lost+".json"), `{"key":"`+lost+`","hash":"`+hashOf("lost")+`"}`)
	f := open(t, Config{Dir: dir})
	require.Len(t, f.cache.blobs, 1)
	require.EqualValues(t, 1, f.cache.total)
	require.Empty(t, f.cache.records)
	require.Zero(t, filesBelow(t, filepath.Join(dir, recordFolder)))
}

func TestACacheThatCannotBeWrittenIsAnErrorAndLeavesNoPartialFile(t *testing.T) {
	t.Parallel()
	s := serve(t, respond("x"))
	for _, folder := range []string{stageFolder, blobFolder} {
		f := open(t, Config{})
		require.NoError(t, os.RemoveAll(filepath.Join(f.config.Dir, folder)))
		write(t, filepath.Join(f.config.Dir, folder), "a file")
		_, err := f.Fetch(t.Context(), ref(s.URL))
		require.ErrorIs(t, err, fault.ErrNotFound, folder)
		require.Empty(t, f.cache.blobs)
		if folder == blobFolder {
			require.ErrorContains(t, err, "write the cache")
			require.Empty(t, partials(t, f))
		}
	}
}

func TestAFileOfTheCacheThatCannotBeWrittenIsAnErrorOfTheDisk(t *testing.T) {
	t.Parallel()
	readOnly, err := os.Open(write(t, filepath.Join(t.TempDir(), "file"), ""))
	require.NoError(t, err)
	defer readOnly.Close()
	reader, unsyncable, err := os.Pipe()
	require.NoError(t, err)
	defer reader.Close()
	defer unsyncable.Close()
	for name, f := range map[string]*os.File{"write": readOnly, "sync": unsyncable} {
		hash, _, err := copyHashed(f, strings.NewReader("x"))
		require.ErrorIs(t, err, fault.ErrInvalid, name)
		require.ErrorContains(t, err, "write the cache", name)
		require.Empty(t, hash, name)
	}
	_, _, err = copyHashed(readOnly, iotest.ErrReader(fault.ErrUnavailable))
	require.Equal(t, fault.ErrUnavailable, err, "an error of the content is not one of the disk")
}

// The paths of a folder may be longer than the system accepts.
func TestACacheWhoseFilesCannotBeListedIsAnError(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{blobFolder, recordFolder} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
		at, err := os.OpenRoot(filepath.Join(dir, folder))
		require.NoError(t, err)
		for range 20 {
			name := strings.Repeat("x", 250)
			require.NoError(t, at.Mkdir(name, 0o700))
			below, err := at.OpenRoot(name)
			require.NoError(t, err)
			require.NoError(t, at.Close())
			at = below
		}
		require.NoError(t, at.Close())
		_, err = New(Config{Dir: dir})
		require.ErrorIs(t, err, syscall.ENAMETOOLONG, folder)
		require.ErrorIs(t, err, fault.ErrInvalid, folder)
	}
}

func TestStartRemovesThePartialFilesOfACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := open(t, Config{Dir: dir})
	s := serve(t, respond("whole"))
	_, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL, Version: "1"})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, stageFolder, "1"), []byte("half"), 0o600))
	known := f.cache.recordPath(keyOf(s.URL))
	for _, left := range []string{known + ".partial", filepath.Join(filepath.Dir(known), "0.json")} {
		require.NoError(t, os.WriteFile(left, []byte("{"), 0o600))
	}

	f = open(t, Config{Dir: dir})
	require.Empty(t, partials(t, f))
	names, err := filepath.Glob(filepath.Join(filepath.Dir(known), "*"))
	require.NoError(t, err)
	require.Equal(t, []string{known}, names)
	require.Len(t, f.cache.records, 1)
}

func TestDamagedCacheIsFetchedAgain(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, echo(&asked))
	dir := t.TempDir()
	one := models.MediaRef{URI: s.URL + "/a", Version: "1"}
	f := open(t, Config{Dir: dir})
	for _, damage := range []func(path string) error{
		os.Remove,
		func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		file, err := f.Fetch(t.Context(), one)
		require.NoError(t, err)
		require.Equal(t, "/a", read(t, file))
		require.NoError(t, damage(file.Path))
		require.NoError(t, file.Close())
	}
	_, err := f.Fetch(t.Context(), one)
	require.NoError(t, err)
	require.EqualValues(t, 3, asked.Load())

	require.NoError(t, os.WriteFile(f.cache.recordPath(keyOf(one.URI)), []byte("{"), 0o600))
	f = open(t, Config{Dir: dir})
	_, err = f.Fetch(t.Context(), one)
	require.NoError(t, err)
	require.EqualValues(t, 4, asked.Load())
}

func TestRecordsOfOneContentAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, respond("same"))
	f := open(t, Config{})
	for i := range maxURIs + 20 {
		file, err := f.Fetch(t.Context(), ref(fmt.Sprintf("%s/?listener=%d", s.URL, i)))
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	require.Len(t, f.cache.records, maxURIs)
	require.Len(t, f.cache.blobs[hashOf("same")].keys, maxURIs)
	require.Equal(t, maxURIs, filesBelow(t, filepath.Join(f.config.Dir, recordFolder)))
	require.Empty(t, partials(t, f), "the content was there")
	for key := range f.cache.records {
		f.cache.updateRecord(f.cache.blobs[hashOf("same")], record{Key: key, Hash: hashOf("same"), Version: "2"})
		require.Len(t, f.cache.records, maxURIs, "a known URI takes the place of no other")
	}
}

// gatedServer responds once open is closed.
type gatedServer struct {
	asked   atomic.Int32
	arrived chan struct{}
	open    chan struct{}
}

func (g *gatedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.asked.Add(1)
	g.arrived <- struct{}{}
	select {
	case <-g.open:
		_, _ = w.Write([]byte("gated"))
	case <-r.Context().Done():
	}
}

func newGatedServer() *gatedServer {
	return &gatedServer{arrived: make(chan struct{}, 100), open: make(chan struct{})}
}

// hasCallers returns a condition: n callers wait for downloads.
func (f *Fetcher) hasCallers(n int) func() bool {
	return func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		all := 0
		for _, d := range f.downloads {
			all += d.callers
		}
		return all == n
	}
}

func TestConcurrentFetchesShareOneDownload(t *testing.T) {
	t.Parallel()
	g := newGatedServer()
	s := serve(t, g.ServeHTTP)
	f := open(t, Config{})
	ctx, cancel := context.WithCancelCause(t.Context())
	errLeft := errors.New("left")
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := f.Fetch(ctx, ref(s.URL))
		assert.ErrorIs(t, err, errLeft)
	})
	<-g.arrived
	for range 5 {
		wg.Go(func() {
			file, err := f.Fetch(t.Context(), ref(s.URL))
			assert.NoError(t, err)
			assert.Equal(t, "gated", read(t, file))
			assert.NoError(t, file.Close())
		})
	}
	require.Eventually(t, f.hasCallers(6), time.Minute, time.Millisecond)
	cancel(errLeft)
	require.Eventually(t, f.hasCallers(5), time.Minute, time.Millisecond)
	close(g.open)
	wg.Wait()
	require.EqualValues(t, 1, g.asked.Load())
	require.Zero(t, f.cache.blobs[hashOf("gated")].pins)
}

func TestDownloadEndsWithItsLastCaller(t *testing.T) {
	t.Parallel()
	g := newGatedServer()
	s := serve(t, g.ServeHTTP)
	f := open(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := f.Fetch(ctx, ref(s.URL))
		assert.ErrorIs(t, err, context.Canceled)
	})
	<-g.arrived
	cancel()
	wg.Wait()
	f.running.Wait()
	require.Empty(t, f.downloads)
	require.Empty(t, partials(t, f))
}

func TestCloseEndsDownloads(t *testing.T) {
	t.Parallel()
	g := newGatedServer()
	s := serve(t, g.ServeHTTP)
	f := open(t, Config{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := f.Fetch(t.Context(), ref(s.URL))
		assert.ErrorIs(t, err, fault.ErrClosed)
	})
	<-g.arrived
	require.NoError(t, f.Close())
	wg.Wait()
	_, err := f.Fetch(t.Context(), ref(s.URL))
	require.ErrorIs(t, err, fault.ErrClosed)
}

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

func TestContentWithAnotherHashIsNoConditionOfARequest(t *testing.T) {
	t.Parallel()
	content := "old"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(content))
	})
	f := open(t, Config{})
	file, err := f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/a", Version: "1"})
	require.NoError(t, err)
	require.NoError(t, file.Close())
	content = "new"
	file, err = f.Fetch(t.Context(), models.MediaRef{URI: s.URL + "/a", Version: "1", Hash: hashOf("new")})
	require.NoError(t, err)
	require.Equal(t, "new", read(t, file))
	require.NoError(t, file.Close())
	require.Zero(t, f.cache.blobs[hashOf("old")].pins, "it may be evicted")
}

func TestACacheInPlaceOfAFileIsAnError(t *testing.T) {
	t.Parallel()
	file := write(t, filepath.Join(t.TempDir(), "file"), "x")
	_, err := New(Config{Dir: filepath.Join(file, "cache")})
	require.ErrorContains(t, err, filepath.Join(file, "cache"))
	for _, folder := range []string{blobFolder, recordFolder} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, folder), "x")
		_, err := New(Config{Dir: dir})
		require.ErrorIs(t, err, fault.ErrNotFound, folder)
	}
}
