package fetch_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

func TestAPollSendsItsCondition(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/busy":
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
		case r.Header.Get("If-None-Match") == `"v1"` && r.Header.Get("If-Modified-Since") == "Sat, 21 Nov 2026 06:00:00 GMT":
			w.WriteHeader(http.StatusNotModified)
		case r.URL.Path == "/always":
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("ETag", `"v1"`)
			w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 06:00:00 GMT")
			if r.URL.Path == "/long" {
				w.Header().Set("ETag", strings.Repeat("x", 5000))
			}
			_, _ = w.Write([]byte("content"))
		}
	}))
	t.Cleanup(server.Close)
	f, err := fetch.New(fetch.Config{Dir: t.TempDir(), AllowPrivate: []string{"127.0.0.1"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	first, err := f.Poll(t.Context(), server.URL, models.Known{}, 100)
	require.NoError(t, err)
	require.Equal(t, "content", string(first.Content))
	again, err := f.Poll(t.Context(), server.URL, models.Known{ETag: first.ETag, Modified: first.Modified}, 100)
	require.NoError(t, err)
	require.Equal(t, fetch.Poll{Same: true, ETag: first.ETag, Modified: first.Modified}, again)
	unasked, err := f.Poll(t.Context(), server.URL+"/always", models.Known{}, 100)
	require.NoError(t, err)
	require.False(t, unasked.Same, "the request had no condition")
	long, err := f.Poll(t.Context(), server.URL+"/long", models.Known{}, 100)
	require.NoError(t, err)
	require.Empty(t, long.ETag)
	_, err = f.Poll(t.Context(), server.URL, models.Known{}, 3)
	require.ErrorIs(t, err, fault.ErrTooLarge)
	_, err = f.Poll(t.Context(), server.URL+"/busy", models.Known{}, 100)
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.Equal(t, 30*time.Second, fetch.RetryAfter(err))
	require.Zero(t, fetch.RetryAfter(fault.ErrUnavailable))
}

func TestAHeadHasValidatorsAndLengthAndNoContent(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/refused":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case "/streamed":
			w.(http.Flusher).Flush()
		default:
			if r.Method == http.MethodHead {
				w.Header().Set("ETag", `"v1"`)
				w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 06:00:00 GMT")
				w.Header().Set("Content-Length", "5000000000")
			}
		}
	}))
	t.Cleanup(server.Close)
	f, err := fetch.New(fetch.Config{Dir: t.TempDir(), AllowPrivate: []string{"127.0.0.1"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	p, bytes, err := f.Head(t.Context(), server.URL+"/long.mp3")
	require.NoError(t, err)
	require.Equal(t, fetch.Poll{ETag: `"v1"`, Modified: "Sat, 21 Nov 2026 06:00:00 GMT"}, p)
	require.EqualValues(t, 5000000000, bytes)
	p, bytes, err = f.Head(t.Context(), server.URL+"/streamed")
	require.NoError(t, err)
	require.Zero(t, p)
	require.Zero(t, bytes)
	for _, uri := range []string{server.URL + "/refused", "file:///etc/hostname", "http://10.0.0.1/x", "%zz"} {
		p, bytes, err = f.Head(t.Context(), uri)
		require.ErrorIs(t, err, fault.ErrInvalid, uri)
		require.Zero(t, p, uri)
		require.Zero(t, bytes, "the length of %s is unknown", uri)
	}
}

func TestAPollReturnsForHowLongItsResponseIsFresh(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", r.URL.Query().Get("control"))
		require.Equal(t, "gzip", r.Header.Get("Accept-Encoding"))
		if r.Header.Get("If-None-Match")+r.Header.Get("If-Modified-Since") != "" {
			w.WriteHeader(http.StatusNotModified)
		}
	}))
	t.Cleanup(server.Close)
	f, err := fetch.New(fetch.Config{Dir: t.TempDir(), AllowPrivate: []string{"127.0.0.1"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	for control, want := range map[string]time.Duration{
		"": 0, "max-age=60": time.Minute, `public, Max-Age="3600"`: time.Hour, "max-age=60, no-cache": 0, "no-store": 0,
		"max-age=-1": 0, "max-age=soon": 0, "max-age=99999999999": 0, "s-maxage=5": 0,
		"max-age=2147483647": 2147483647 * time.Second, "max-age=4294967295": 0,
	} {
		for _, known := range []models.Known{{}, {ETag: "x"}, {Modified: "x"}} {
			p, err := f.Poll(t.Context(), server.URL+"/?control="+url.QueryEscape(control), known, 100)
			require.NoError(t, err)
			require.Equal(t, want, p.FreshFor, control)
			require.Equal(t, known != models.Known{}, p.Same)
		}
	}
}
