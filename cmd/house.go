package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"leasehold/coordinator"
	"leasehold/manager/archive"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/sqlite"
	"leasehold/shared/config"
	"leasehold/shared/fetch"
)

// house is a data folder in the hands of this process.
type house struct {
	cfg     config.Config
	log     *slog.Logger
	catalog catalog.Catalog
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
	h := &house{cfg: cfg, log: a.newLogger(cfg)}
	if err := h.open(c.Context()); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *house) open(ctx context.Context) error {
	release, err := coordinator.Lock(h.cfg.Data)
	if err != nil {
		return err
	}
	h.closers = append(h.closers, release)
	store, err := sqlite.Open(ctx, filepath.Join(h.cfg.Data, "catalog.db"))
	if err != nil {
		return err
	}
	h.catalog = store
	h.closers = append(h.closers, store.Close)
	h.fetch, err = fetch.New(fetch.Config{
		Dir:          filepath.Join(h.cfg.Data, "cache"),
		MaxBytes:     h.cfg.FetchMaxBytes,
		Stall:        h.cfg.FetchStall,
		MaxRedirects: h.cfg.FetchRedirects,
		CacheBytes:   h.cfg.CacheBytes,
		AllowPrivate: h.cfg.AllowPrivate,
	})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, h.fetch.Close)
	return nil
}

// close gives the folder up, last opened first.
func (h *house) close() error {
	var errs []error
	for i := len(h.closers) - 1; i >= 0; i-- {
		errs = append(errs, h.closers[i]())
	}
	h.closers = nil
	return errors.Join(errs...)
}

// flow is the archive's work on this house.
func (h *house) flow() *archive.Flow {
	return archive.NewFlow(archive.Flow{
		Catalog: h.catalog,
		Lister:  &archive.Lister{Fetch: h.fetch},
		// One work-item holds so many clips.
		ClipLimit: h.cfg.ClipLimit,
		Timeout:   h.cfg.ResearchTimeout,
		Look:      h.cfg.CapacityLook,
		Log:       h.log,
	})
}

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

// trust lets the fetcher read what the operator's origins name. A folder that is
// not there makes its visit fail, and no more.
func (h *house) trust(origins []models.Origin) {
	for _, o := range origins {
		if err := h.fetch.Trust(o); err != nil {
			h.log.Warn("an origin cannot be read now", "origin", o.URI, "error", err)
		}
	}
}
