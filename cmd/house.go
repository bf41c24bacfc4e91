package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"leasehold/coordinator"
	"leasehold/coordinator/visit"
	"leasehold/coordinator/visit/store"
	"leasehold/manager"
	"leasehold/manager/archive"
	"leasehold/manager/git"
	"leasehold/manager/lister"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqlite"
	"leasehold/shared/config"
	"leasehold/shared/datadir"
	"leasehold/shared/fetch"
)

// The catalog, and when its origins are visited, in a data folder.
const (
	catalogFile = "catalog.db"
	visitsFile  = "visits.db"
)

// house is a data folder in the hands of this process.
type house struct {
	cfg     config.Config
	log     *slog.Logger
	catalog catalog.Catalog
	store   *sqlite.Store // the catalog
	visits  *store.Store
	fetch   *fetch.Fetcher
	closers []func() error
}

// openHouse locks the data folder and opens what is in it. Another process that
// holds the folder is named in the error.
func (a *app) openHouse(c *cobra.Command) (*house, error) {
	cfg, err := a.load(c)
	if err != nil {
		return nil, err
	}
	return a.openHouseAt(c.Context(), cfg)
}

// openHouseAt is openHouse with a configuration that was read before.
func (a *app) openHouseAt(ctx context.Context, cfg config.Config) (*house, error) {
	h := &house{cfg: cfg, log: a.newLogger(cfg)}
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *house) open(ctx context.Context) error {
	release, err := datadir.Lock(h.cfg.Data)
	if err != nil {
		return err
	}
	h.closers = append(h.closers, release)
	remembered, err := sqlite.Open(ctx, filepath.Join(h.cfg.Data, catalogFile))
	if err != nil {
		return err
	}
	h.closers = append(h.closers, remembered.Close)
	rules, err := visit.ParseRules(h.cfg.VisitRules)
	if err != nil {
		return usagef("%s", err)
	}
	if h.visits, err = store.Open(ctx, filepath.Join(h.cfg.Data, visitsFile), h.cfg.VisitPolicy, rules); err != nil {
		return err
	}
	h.closers = append(h.closers, h.visits.Close)
	h.store, h.catalog = remembered, coordinator.Scheduled(remembered, h.visits)
	if h.fetch, err = newFetcher(h.cfg, filepath.Join(h.cfg.Data, "cache")); err != nil {
		return err
	}
	h.closers = append(h.closers, h.fetch.Close)
	return nil
}

// newFetcher opens a cache as it is configured.
func newFetcher(cfg config.Config, dir string) (*fetch.Fetcher, error) {
	return fetch.New(fetch.Config{
		Dir: dir, MaxBytes: cfg.FetchMaxBytes, Stall: cfg.FetchStall, MaxRedirects: cfg.FetchRedirects,
		CacheBytes: cfg.CacheBytes, AllowPrivate: cfg.AllowPrivate,
	})
}

// close gives the folder up, last opened first.
func (h *house) close() error {
	err := closeAll(h.closers)
	h.closers = nil
	return err
}

// closeAll closes what was opened, the last first.
func closeAll(closers []func() error) error {
	var errs []error
	for _, end := range slices.Backward(closers) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

// newFlows is the work of a manager: the archive's, repositories and listers.
func newFlows(cfg config.Config, c catalog.Catalog, f *fetch.Fetcher, log *slog.Logger) []manager.Flow {
	return []manager.Flow{
		archive.NewFlow(archive.Flow{
			Catalog: c, Lister: &archive.Lister{Fetch: f}, ClipLimit: cfg.ClipLimit,
			Timeout: cfg.ResearchTimeout, Look: cfg.CapacityLook, Log: log,
		}),
		&git.Flow{Catalog: c, Fetch: f, Log: log},
		&lister.Flow{Catalog: c, Fetch: f, Log: log},
	}
}

// flows is the work on this house.
func (h *house) flows() []manager.Flow { return newFlows(h.cfg, h.catalog, h.fetch, h.log) }

// add detects the origins at each path and adds them.
func (h *house) add(ctx context.Context, paths []string, kind string) ([]models.Origin, error) {
	var added []models.Origin
	for _, path := range paths {
		origins, err := archive.Detect(path, kind)
		if err != nil {
			return nil, err
		}
		for _, o := range origins {
			if _, err := h.catalog.AddOrigin(ctx, o); err != nil {
				return nil, fmt.Errorf("add %s: %w", o.URI, err)
			}
			added = append(added, o)
		}
	}
	return added, nil
}

// trust lets the fetcher read what the operator's origins name, and not the URLs
// that a lister named. A folder that is not there makes its visit fail, and no more.
func (h *house) trust(ctx context.Context, origins []models.Origin) {
	for _, o := range origins {
		if err := trust(h.fetch, o); err != nil {
			h.log.Warn("an origin cannot be read now", "origin", o.URI, "error", err)
		}
	}
}

// trust lets a fetcher read what an origin names, unless it is a URL that a lister
// named.
func trust(f *fetch.Fetcher, o models.Origin) error {
	if o.Listed && !filepath.IsAbs(o.URI) {
		return nil
	}
	return f.Trust(o)
}
