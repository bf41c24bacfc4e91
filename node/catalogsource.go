package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/shared/apiclient"
	"leasehold/shared/apitypes"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/remote"
	"leasehold/shared/config"
	"leasehold/shared/fault"
)

// CatalogSource is the catalog that a command reads: that of a running coordinator, or
// that of the data folder.
type CatalogSource struct {
	Catalog catalog.Catalog
	Dir     *DataDir          // nil if the source is a coordinator
	API     *apiclient.Client // nil if the source is a data folder
}

// errNotServed is what to do about a data folder whose process answers no commands.
var errNotServed = errors.New("only a coordinator answers commands (leasehold coordinator); if the process is leasehold run, wait until it ends, or stop it: started again, it continues")

// OpenCatalog opens the catalog of the coordinator that cfg names or, if none is named and
// none answers, that of the data folder. If another process holds the folder, the error is
// fault.ErrUnavailable if its address is known but nothing answers there, else
// fault.ErrConflict.
func OpenCatalog(ctx context.Context, cfg config.Config, log *slog.Logger) (*CatalogSource, error) {
	e, remoteErr := locate(ctx, cfg)
	if remoteErr == nil && e.api != "" {
		var s *CatalogSource
		if s, remoteErr = openRemoteCatalog(ctx, e.api); remoteErr == nil {
			return s, nil
		}
	}
	if remoteErr != nil && (e.named || ctx.Err() != nil) {
		return nil, remoteErr
	}
	// No coordinator answers, and the user named none. The folder's lock decides whether it is
	// free, because the address file may be stale.
	d, err := openDataDir(ctx, cfg, log, true)
	if errors.Is(err, fault.ErrConflict) && remoteErr != nil {
		return nil, fmt.Errorf("%w\n%s", e.explain(remoteErr), err) // the process that holds it does not answer
	}
	if errors.Is(err, fault.ErrConflict) {
		return nil, errors.Join(err, errNotServed)
	}
	if err != nil {
		return nil, err
	}
	return &CatalogSource{Catalog: d.Catalog, Dir: d}, nil
}

// openRemoteCatalog opens the catalog of the coordinator whose API is at url. The error is
// fault.ErrUnavailable at once if it does not answer.
func openRemoteCatalog(ctx context.Context, url string) (*CatalogSource, error) {
	client, err := apiclient.New(url)
	if err != nil {
		return nil, err
	}
	if err := client.Alive(ctx); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	store, err := remote.New(url)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return &CatalogSource{Catalog: store, API: client}, nil
}

// Close closes the connections, or the data folder.
func (s *CatalogSource) Close() error {
	if s.Dir != nil {
		return s.Dir.Close()
	}
	return errors.Join(s.API.Close(), s.Catalog.Close())
}

// Origin finds an origin by its id, URL or path, which may be relative. Users and passwords in URLs
// are not compared. The error is fault.ErrNotFound if there is none.
func (s *CatalogSource) Origin(ctx context.Context, name string) (models.Origin, error) {
	origins, err := s.Catalog.Origins(ctx)
	if err != nil {
		return models.Origin{}, err
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return models.Origin{}, fmt.Errorf("origin %s: %w", name, err)
	}
	for _, o := range origins {
		if o.ID == name || models.Redact(o.URI) == models.Redact(name) || o.URI == path {
			return o, nil
		}
	}
	return models.Origin{}, fmt.Errorf("origin %s: %w; see leasehold origin list", strings.TrimSpace(name), fault.ErrNotFound)
}

// Schedule returns when an origin is visited next, and why then. origin is its id.
func (s *CatalogSource) Schedule(ctx context.Context, origin string) (apitypes.Schedule, error) {
	if s.API != nil {
		return s.API.Schedule(ctx, origin)
	}
	o, err := s.Dir.Visits.Schedule(ctx, time.Now(), origin)
	return api.ScheduleOf(o), err
}

// Capacity returns what a number of slots can hold; 0 stands for those that managers have
// now, or for present if no coordinator runs.
func (s *CatalogSource) Capacity(ctx context.Context, slots, present int) (apitypes.Capacity, error) {
	if s.API != nil {
		return s.API.Capacity(ctx, slots)
	}
	c, err := s.Dir.Visits.Capacity(ctx, time.Now(), cmp.Or(slots, present))
	return api.CapacityOf(c), err
}

// NextVisits returns the n origins that would be visited next, the best first.
func (s *CatalogSource) NextVisits(ctx context.Context, n int) ([]apitypes.NextVisit, error) {
	if s.API != nil {
		return s.API.NextVisits(ctx, n)
	}
	found, err := s.Dir.Visits.Next(ctx, time.Now(), n)
	var next []apitypes.NextVisit
	for _, x := range found {
		next = append(next, api.NextOf(x))
	}
	return next, err
}

// Steer enables or disables an origin, or asks for a visit now (apitypes.Enable, Disable,
// SaveNow and ForceNow), and returns its schedule after that.
func (s *CatalogSource) Steer(ctx context.Context, o models.Origin, what string) (apitypes.Schedule, error) {
	if !o.Kind.Visited() {
		return apitypes.Schedule{}, fmt.Errorf("origins of the API are not visited, because their curators send what they have: %w", fault.ErrInvalid)
	}
	if s.API != nil {
		return s.API.Steer(ctx, o.ID, what)
	}
	if err := s.Dir.Visits.Steer(ctx, time.Now(), o.ID, what); err != nil {
		return apitypes.Schedule{}, err
	}
	return s.Schedule(ctx, o.ID)
}

// Backup copies the spaces and the catalog to the new folder dest, which is on the
// coordinator's machine.
func (s *CatalogSource) Backup(ctx context.Context, dest string) error {
	if s.API != nil {
		return s.API.Backup(ctx, dest)
	}
	return s.Dir.Backup(ctx, dest)
}
