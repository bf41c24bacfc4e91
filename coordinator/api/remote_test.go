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
	apicatalog "leasehold/shared/api/catalog"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/catalogtest"
	"leasehold/shared/catalog/store"
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
	store, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	server := httptest.NewServer(between(api.New(api.Config{Catalog: store, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})))
	client, err := apicatalog.New(server.URL)
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
			c, err := apicatalog.New(server.URL)
			require.NoError(t, err)
			_, err = c.Totals(t.Context())
			require.ErrorIs(t, err, fault.ErrUnavailable)
			require.NoError(t, c.Close())
		})
	}
	for _, base := range []string{"", "127.0.0.1:7412", "ftp://x", "http://"} {
		_, err := apicatalog.New(base)
		require.ErrorIs(t, err, fault.ErrInvalid, base)
	}
}

func TestRecordingsThatArePutAreAllCuratedOrNone(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const good, bad = `{"name":"a","uri":"https://example.org/1.mp3"}`, `{"name":"b","uri":"file:///etc/passwd"}`
	h.refuses("not_found", "PUT", v1+"/episodes", `{"origin":"missing","items":[`+good+`]}`)
	h.refuses("invalid", "PUT", v1+"/episodes", `{"items":[`+good+`,`+bad+`]}`)
	h.refuses("conflict", "PUT", v1+"/clips", `{"items":[`+good+`,{"name":"c","uri":"https://example.org/2.wav","aired":"2026-11-22T00:00:00Z"}]}`)
	h.refuses("invalid", "PATCH", v1+"/episodes/e", `{}`)
	h.refuses("invalid", "PATCH", v1+"/clips/c", `{}`)
	totals := h.ok("GET", v1+"/totals", "")
	require.EqualValues(t, 0, totals["episodes"])
	require.EqualValues(t, 0, totals["clips"])
	for name, spoil := range map[string]func(catalog.Catalog) catalog.Catalog{
		"origins": func(c catalog.Catalog) catalog.Catalog { return unreadable{c} },
		"lists":   func(c catalog.Catalog) catalog.Catalog { return readableOrigins{unreadable{c}} },
	} {
		h := newFixtureWith(t, func(c *api.Config) { c.Catalog = spoil(c.Catalog) })
		for _, path := range []string{"/episodes", "/clips"} {
			if name == "origins" {
				h.refuses("corrupt", "PUT", v1+path, `{"items":[`+good+`]}`)
			}
			h.refuses("corrupt", "PUT", v1+path, `{"complete":true,"items":[`+good+`]}`)
			if name == "lists" {
				h.refuses("corrupt", "GET", v1+path, "")
			}
		}
		totals := h.ok("GET", v1+"/totals", "")
		require.EqualValues(t, 0, totals["episodes"], name)
		require.EqualValues(t, 0, totals["clips"], name)
	}
}
