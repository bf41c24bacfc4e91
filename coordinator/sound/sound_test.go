package sound_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/sound"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/store"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a catalog with an origin and one episode, whose sound is served.
type fixture struct {
	*testing.T
	source  *sound.Source
	episode string
}

// newFixture adds an episode of an origin. With the user of the origin's URL it is fetched.
func newFixture(t *testing.T, kind models.OriginKind, origin, uri string) *fixture {
	t.Helper()
	store, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	_, err = store.AddOrigin(t.Context(), models.Origin{ID: "o", Kind: kind, URI: origin, AddedAt: time.Now()})
	require.NoError(t, err)
	_, err = store.Curate(t.Context(), "o", time.Now(), catalog.Listing{Episodes: []models.Episode{{Recording: models.Recording{Name: "e", Title: "E", Media: models.MediaRef{URI: uri, Type: "text/html"}}}}})
	require.NoError(t, err)
	f, err := fetch.New(fetch.Config{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return &fixture{t, sound.New(f, store), models.NewID("o", "e")}
}

// ask requests a range; empty: all.
func (x *fixture) ask(byteRange string) (*httptest.ResponseRecorder, error) {
	r := httptest.NewRequestWithContext(x.Context(), "GET", "/", nil)
	if byteRange != "" {
		r.Header.Set("Range", byteRange)
	}
	w := httptest.NewRecorder()
	return w, x.source.Serve(w, r, x.episode)
}

// recording is a little more than two parts.
func recording() []byte { return bytes.Repeat([]byte("0123456789abcdef"), 140_000) }

func (x *fixture) playsEachRange(t *testing.T) {
	t.Helper()
	content := recording()
	for byteRange, want := range map[string][2]int{"bytes=0-": {0, 1 << 20}, "bytes=5-9": {5, 10}, "bytes=2200000-": {2_200_000, len(content)}} {
		w, err := x.ask(byteRange)
		require.NoError(t, err)
		require.Equal(t, http.StatusPartialContent, w.Code, byteRange)
		require.True(t, bytes.Equal(content[want[0]:want[1]], w.Body.Bytes()), byteRange)
		require.Equal(t, "audio/mpeg", w.Header().Get("Content-Type"), "a browser must not take it for a document")
		require.True(t, strings.HasSuffix(w.Header().Get("Content-Range"), "/2240000"))
	}
	w, err := x.ask("")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, w.Code)
	require.True(t, bytes.Equal(content, w.Body.Bytes()))
}

func TestALocalRecordingIsPlayedBelowTheFolderOfItsOrigin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "e.mp3")
	require.NoError(t, os.WriteFile(file, recording(), 0o600))
	x := newFixture(t, models.Media, dir, fetch.FileURI(file))
	x.playsEachRange(t)
	require.NoError(t, os.Remove(file))
	_, err := x.ask("bytes=0-")
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.ErrorContains(t, err, "no such file")

	outside := newFixture(t, models.Media, t.TempDir(), "file:///etc/passwd")
	_, err = outside.ask("")
	require.ErrorIs(t, err, fault.ErrInvalid)
	outside.episode = "unknown"
	_, err = outside.ask("")
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestARemoteRecordingIsPlayedByRangeAndOneAtATime(t *testing.T) {
	t.Parallel()
	var asked, most atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		most.Store(max(most.Load(), asked.Add(1)))
		defer asked.Add(-1)
		if user, password, _ := r.BasicAuth(); user != "bob" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.Header.Get("Range") == "" || strings.HasSuffix(r.Header.Get("Range"), "-") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(recording()))
	}))
	t.Cleanup(s.Close)
	x := newFixture(t, models.Feed, strings.Replace(s.URL, "//", "//bob:secret@", 1)+"/feed.xml", s.URL+"/e.mp3?x=1.html")
	x.playsEachRange(t)
	done := make(chan error)
	for range 4 {
		go func() {
			_, err := x.ask("bytes=0-")
			done <- err
		}()
	}
	for range 4 {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, 1, most.Load())

	private := newFixture(t, models.Feed, "https://example.org/feed.xml", s.URL+"/e.mp3")
	_, err := private.ask("bytes=0-")
	require.ErrorIs(t, err, fault.ErrInvalid, "a feed must not lead to an address of the operator's network")
}
