package api_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
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
func (unreadable) EpisodesOf(context.Context, catalog.EpisodeFilter, catalog.Part) ([]catalog.EpisodeProgress, int, error) {
	return nil, 0, errUnreadable
}
func (unreadable) Clips(context.Context) ([]models.Clip, error) { return nil, errUnreadable }

// readableOrigins is unreadable, but for origins.
type readableOrigins struct{ unreadable }

func (c readableOrigins) Origin(ctx context.Context, id string) (models.Origin, error) {
	return c.Catalog.Origin(ctx, id)
}
