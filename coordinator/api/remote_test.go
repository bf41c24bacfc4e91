package api_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/catalogtest"
	"leasehold/shared/catalog/remote"
	"leasehold/shared/catalog/sqlite"
	"leasehold/shared/fault"
)

// remoteCatalog is a remote catalog and its coordinator.
type remoteCatalog struct {
	catalog.Catalog
	server *httptest.Server
	store  catalog.Catalog
}

func (d remoteCatalog) Close() error {
	err := d.Catalog.Close()
	d.server.Close()
	if err == nil {
		err = d.store.Close()
	}
	return err
}

func openRemote(t *testing.T, between func(http.Handler) http.Handler) catalog.Catalog {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	server := httptest.NewServer(between(api.New(api.Config{Catalog: store, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})))
	client, err := remote.New(server.URL)
	require.NoError(t, err)
	return remoteCatalog{client, server, store}
}

func directly(h http.Handler) http.Handler { return h }

func TestRemoteIsACatalog(t *testing.T) {
	t.Parallel()
	catalogtest.Exercise(t, func(t *testing.T) catalog.Catalog { return openRemote(t, directly) })
}

func TestFault26ACallIsRetriedIfItsResponseIsLost(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	c := openRemote(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1)%2 == 0 {
				next.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(httptest.NewRecorder(), r) // executed, but the response is lost
			panic(http.ErrAbortHandler)
		})
	})
	isNew, err := c.AddOrigin(t.Context(), models.Origin{ID: "o", Kind: models.API, URI: "u"})
	require.NoError(t, err)
	require.False(t, isNew, "the first try added it")
	got, err := c.Curate(t.Context(), "o", models.Origin{}.AddedAt, catalog.Listing{Clips: []models.Clip{{Recording: models.Recording{Name: "c"}}}})
	require.NoError(t, err)
	require.Equal(t, catalog.Curated{}, got)
	clips, err := c.Clips(t.Context())
	require.NoError(t, err)
	require.Len(t, clips, 1)
	require.NoError(t, c.Close())
}

func TestAnUnreachableRemoteCatalogIsUnavailable(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"connections that are cut":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a proxy without a backend": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(answer)
			defer server.Close()
			c, err := remote.New(server.URL)
			require.NoError(t, err)
			_, err = c.Totals(t.Context())
			require.ErrorIs(t, err, fault.ErrUnavailable)
			require.NoError(t, c.Close())
		})
	}
	for _, base := range []string{"", "127.0.0.1:7412", "ftp://x", "http://"} {
		_, err := remote.New(base)
		require.ErrorIs(t, err, fault.ErrInvalid, base)
	}
}
