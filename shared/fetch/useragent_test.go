package fetch

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/models"
)

func TestEachRequestNamesTheProgramItsVersionAndTheContact(t *testing.T) {
	t.Parallel()
	seen := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen <- r.Method + " " + r.UserAgent() }))
	t.Cleanup(server.Close)
	f, err := New(Config{Dir: t.TempDir(), Contact: "https://example.org/crawler", AllowPrivate: []string{"127.0.0.0/8"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	_, err = f.Document(t.Context(), server.URL, 100)
	require.NoError(t, err)
	_, _, err = f.Head(t.Context(), server.URL)
	require.NoError(t, err)
	_, err = f.Post(t.Context(), server.URL, http.Header{"User-Agent": {"other"}}, nil, 100)
	require.NoError(t, err)
	file, err := f.Fetch(t.Context(), models.MediaRef{URI: server.URL})
	require.NoError(t, err)
	require.NoError(t, file.Close())
	const agent = " leasehold/v0.1.0-dev (+https://example.org/crawler)"
	for _, method := range []string{"GET", "HEAD", "POST", "GET"} {
		require.Equal(t, method+agent, <-seen)
	}
}
