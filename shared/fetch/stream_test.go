package fetch_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

func TestAStreamIsReadAsItComes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "live")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancelCause(t.Context())
	s, err := fetch.Stream(ctx, server.URL)
	require.NoError(t, err)
	some := make([]byte, 4)
	_, err = io.ReadFull(s, some)
	require.NoError(t, err)
	require.Equal(t, "live", string(some))
	enough := errors.New("enough")
	cancel(enough)
	_, err = s.Read(some)
	require.ErrorIs(t, err, enough)
	require.NoError(t, s.Close())
}

func TestAStreamIsOfTheHostThatTheUserNamed(t *testing.T) {
	t.Parallel()
	away := httptest.NewServer(http.RedirectHandler("http://127.0.0.2:1/", http.StatusFound))
	t.Cleanup(away.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(gone.Close)
	for uri, want := range map[string]error{
		away.URL: fault.ErrInvalid, gone.URL: fault.ErrNotFound, "file:///etc/passwd": fault.ErrInvalid, "http://": fault.ErrInvalid, "http:// /": fault.ErrInvalid,
		"http://[fe80::1%25a%20b]/": fault.ErrInvalid, // a zone with a space
	} {
		s, err := fetch.Stream(t.Context(), uri)
		require.ErrorIs(t, err, want, uri)
		require.Nil(t, s)
	}
}
