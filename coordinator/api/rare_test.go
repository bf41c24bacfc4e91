package api_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/coordinator/database"
	rules "leasehold/coordinator/visit"
	"leasehold/coordinator/visit/store"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// failingCatalog is a catalog whose writes fail.
type failingCatalog struct {
	catalog.Catalog
	err error
}

func (c failingCatalog) Curate(context.Context, string, time.Time, catalog.Listing) (catalog.Curated, error) {
	return catalog.Curated{}, c.err
}

func (c failingCatalog) AddOrigin(context.Context, models.Origin) (bool, error) { return false, c.err }

func (c failingCatalog) Ingest(context.Context, models.Researched, time.Time) error { return c.err }

func (c failingCatalog) RecordOutcome(context.Context, models.Outcome) error { return c.err }

func TestAWriteThatTheCatalogRefusesIsNoSuccess(t *testing.T) {
	t.Parallel()
	for _, kind := range []error{fault.ErrOverloaded, fault.ErrUnavailable, fault.ErrCorrupt} {
		row := fault.Of(kind)
		t.Run(row.Code, func(t *testing.T) {
			t.Parallel()
			h := newFixtureWith(t, func(c *api.Config) {
				_, err := c.Catalog.AddOrigin(t.Context(), models.Origin{ID: "api", Kind: models.API, URI: "api:", AddedAt: time.Now()})
				require.NoError(t, err)
				c.Catalog = failingCatalog{c.Catalog, fmt.Errorf("catalog: %w", kind)}
			})
			for _, c := range []struct{ method, path, body string }{
				{"PUT", "/episodes", `{"items":[{"name":"a","uri":"https://example.org/1.mp3"}]}`},
				{"PUT", "/clips", `{"complete":true,"items":[{"name":"a","uri":"https://example.org/1.wav"}]}`},
				{"POST", "/origins", `{"kind":"git","uri":"https://example.org/x.git"}`},
				{"POST", "/listers", `{"kind":"urls","uri":"https://example.org/list.txt"}`},
			} {
				status, answer := h.call(c.method, v1+c.path, c.body)
				require.Equal(t, row.HTTPStatus, status, "%s %s: %v", c.method, c.path, answer)
				require.Equal(t, row.Code, answer["code"])
			}
			totals := h.ok("GET", v1+"/totals", "")
			require.EqualValues(t, 1, totals["origins"])
			require.EqualValues(t, 0, totals["episodes"])
		})
	}
}

// unreadable is a catalog whose lists and origins cannot be read.
type unreadable struct{ catalog.Catalog }

var errUnreadable = fmt.Errorf("catalog: %w", fault.ErrCorrupt)

func (unreadable) Origin(context.Context, string) (models.Origin, error) {
	return models.Origin{}, errUnreadable
}
func (unreadable) Episodes(context.Context) ([]models.Episode, error) { return nil, errUnreadable }
func (unreadable) Clips(context.Context) ([]models.Clip, error)       { return nil, errUnreadable }

// readableOrigins is unreadable, but for origins.
type readableOrigins struct{ unreadable }

func (c readableOrigins) Origin(ctx context.Context, id string) (models.Origin, error) {
	return c.Catalog.Origin(ctx, id)
}

func TestRecordingsThatArePutAreAllCuratedOrNone(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	const good, bad = `{"name":"a","uri":"https://example.org/1.mp3"}`, `{"name":"b","uri":"file:///etc/passwd"}`
	h.refuses("not_found", "PUT", v1+"/episodes", `{"origin":"missing","items":[`+good+`]}`)
	h.refuses("invalid", "PUT", v1+"/episodes", `{"items":[`+good+`,`+bad+`]}`)
	h.refuses("invalid", "PUT", v1+"/clips", `{"items":[`+good+`,{"name":"c","uri":"https://example.org/2.wav","aired":"2026-11-22T00:00:00Z"}]}`)
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

func TestNumbersThatJSONLacksDoNotHideOtherTuples(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	require.NoError(t, h.repo.Create(t.Context(), "notes", space.Options{}))
	put := func(fields ...any) {
		require.NoError(t, h.repo.Space("notes").Put(t.Context(), tuple.New(fields...), 0))
	}
	put("good", 1.5)
	put("odd", math.NaN(), math.Inf(1), math.Inf(-1), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), "\xff")
	put("good", float32(2.5))
	status, answer := h.call(http.MethodGet, v1+"/spaces/notes/tuples", "")
	require.Equal(t, http.StatusOK, status)
	var shown [][]any
	for _, item := range items(answer) {
		var values []any
		for _, f := range item.(map[string]any)["fields"].([]any) {
			values = append(values, f.(map[string]any)["value"])
		}
		shown = append(shown, values)
	}
	require.Equal(t, [][]any{{"good", 1.5}, {"odd", "NaN", "+Inf", "-Inf", "NaN", "+Inf", "-Inf", `"\xff"`}, {"good", 2.5}}, shown)
}

func TestAllVisitsThatWouldBeNextAreListedTheBestFirst(t *testing.T) {
	t.Parallel()
	db, err := database.Open(t.Context(), filepath.Join(t.TempDir(), "other.db"), "roundrobin", rules.DefaultRules())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	h := newFixtureWith(t, func(c *api.Config) { c.Visits = db.Visits }) // from which no coordinator claims
	begun := time.Now().Add(-time.Hour)
	for i := range 3 {
		o := models.Origin{ID: fmt.Sprint("o", i), Kind: models.Media, URI: fmt.Sprint("/srv/", i)}
		require.NoError(t, db.Visits.List(t.Context(), begun.Add(time.Duration(i)*time.Minute), store.Listing{Origins: []store.Named{{Origin: o}}}))
	}
	listed := func(path string) (ids []any) {
		for _, x := range items(h.ok("GET", v1+path, "")) {
			ids = append(ids, x.(map[string]any)["origin"])
		}
		return ids
	}
	require.Equal(t, []any{"o0", "o1", "o2"}, listed("/visits/next"))
	require.Equal(t, []any{"o0", "o1"}, listed("/visits/next?limit=2"))
	require.Equal(t, []any{"o0", "o1", "o2"}, listed("/visits/next"), "listing takes none")
}

func TestALongPasswordIsNotInTheErrorOfAURLThatIsRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	uri := "ftp://bob:" + strings.Repeat("s3cret", 30) + "@example.org/x"
	for _, refused := range []struct{ method, path, body string }{
		{"POST", "/origins", `{"kind":"feed","uri":"` + uri + `"}`},
		{"POST", "/listers", `{"kind":"urls","uri":"` + uri + `"}`},
		{"PUT", "/episodes", `{"items":[{"name":"a","uri":"` + uri + `"}]}`},
	} {
		_, answer := h.call(refused.method, v1+refused.path, refused.body)
		require.Contains(t, answer["detail"], models.Redacted+"@example.org")
		require.NotContains(t, answer["detail"], "s3cret")
	}
}
