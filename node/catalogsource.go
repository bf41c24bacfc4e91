package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"leasehold/coordinator/api"
	"leasehold/models"
	"leasehold/node/locate"
	apicatalog "leasehold/shared/api/catalog"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/datadir"
	"leasehold/shared/process/platform"
	"leasehold/shared/process/wording"
)

// CatalogSource is the catalog that a command reads: the coordinator's if one runs, otherwise the one in the data
// folder.
type CatalogSource struct {
	Catalog catalog.Catalog
	Dir     *DataDir       // nil if the source is a coordinator
	API     *client.Client // nil if the source is a data folder
}

// errNotServed is what to do about a data folder whose process answers no commands.
var errNotServed = errors.New("only a coordinator answers commands (leasehold coordinator); if the process is leasehold run, wait until it ends, or stop it: started again, it continues")

// OpenCatalog opens the catalog of the coordinator that cfg names. If none is named and none answers, it opens
// the one in the data folder; if the folder has no data, it is the coordinator at the default host. It fails with
// fault.ErrUnavailable if another process holds the folder and does not answer at its known address, and with fault.ErrConflict if that address is unknown. A folder without data is
// made only if create is true; otherwise fault.ErrFolder is returned, because a command that reads must not create
// a folder for a mistyped name.
func OpenCatalog(ctx context.Context, cfg config.Config, log *slog.Logger, create bool) (*CatalogSource, error) {
	e, remoteErr := locate.Find(ctx, cfg)
	if remoteErr == nil && e.API != "" {
		var s *CatalogSource
		if s, remoteErr = openRemoteCatalog(ctx, e); remoteErr == nil {
			return s, nil
		}
	}
	isRefused := errors.Is(remoteErr, fault.ErrUnauthenticated) || errors.Is(remoteErr, fault.ErrForbidden)
	if remoteErr != nil && (e.Named || isRefused || ctx.Err() != nil) {
		return nil, remoteErr
	}
	// No coordinator answers, and the user named none. The folder's lock decides whether it is
	// free, because the address file may be stale.
	if !create && !hasData(cfg.Data) {
		if e, err := locate.FindDefault(ctx, cfg); err == nil && e.Named {
			return openRemoteCatalog(ctx, e)
		}
		return nil, errors.Join(noDataError(cfg.Data), remoteErr)
	}
	const (
		tolerant  = true // the journal is not used
		noTimeout = 0    // the process that holds the folder may be one that runs for long
	)
	d, err := openDataDir(ctx, cfg, log, tolerant, noTimeout)
	if errors.Is(err, fault.ErrConflict) && remoteErr != nil {
		return nil, fmt.Errorf("%w\n%s", e.Explain(remoteErr), err) // the process that holds it does not answer
	}
	if errors.Is(err, fault.ErrConflict) {
		return nil, errors.Join(err, errNotServed)
	}
	if err != nil {
		return nil, err
	}
	return &CatalogSource{Catalog: d.Catalog, Dir: d}, nil
}

// hasData reports whether a process works or has worked in a data folder: it has a catalog,
// spaces, or the addresses of a coordinator.
// Anything but their absence, such as a folder that cannot be read, is an error of opening it.
func hasData(dir string) bool {
	for _, name := range []string{catalogFile, journalDir, datadir.AddressFile} {
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// noDataError reports a folder without data, as a fault.ErrFolder.
type noDataError string

func (dir noDataError) Error() string {
	if err := platform.BrokenLink(string(dir)); err != nil {
		return fmt.Sprintf("data folder: %s", err)
	}
	return fmt.Sprintf("data folder %s: it has no data; leasehold run, leasehold coordinator and leasehold origin add create it (another folder: --data)", string(dir))
}

// Is makes errors.Is(dir, fault.ErrFolder) true.
func (dir noDataError) Is(target error) bool { return target == fault.ErrFolder }

func openRemoteCatalog(ctx context.Context, e locate.Endpoint) (*CatalogSource, error) {
	api, err := client.NewWith(e.API, e.Options)
	if err != nil {
		return nil, err
	}
	if err := api.Alive(ctx); err != nil {
		return nil, errors.Join(err, api.Close())
	}
	forCatalog, err := client.NewWith(e.API, e.Options)
	if err != nil {
		return nil, errors.Join(err, api.Close())
	}
	return &CatalogSource{Catalog: apicatalog.Over(forCatalog), API: api}, nil
}

// Close closes the connections, or the data folder.
func (s *CatalogSource) Close() error {
	if s.Dir != nil {
		return s.Dir.Close()
	}
	return errors.Join(s.API.Close(), s.Catalog.Close())
}

// Origins lists all origins, oldest first, with Disabled.
func (s *CatalogSource) Origins(ctx context.Context) ([]models.Origin, error) {
	all, err := s.Catalog.Origins(ctx)
	if err == nil && s.Dir != nil { // a coordinator has marked them
		err = s.Dir.Visits.MarkDisabled(ctx, all)
	}
	return all, err
}

// Origin finds an origin by its id, URL or path, which may be relative. Users and passwords in URLs are not
// compared. It fails with fault.ErrNotFound for an unknown name, and with fault.ErrConflict if several origins
// have that URL or path.
func (s *CatalogSource) Origin(ctx context.Context, name string) (models.Origin, error) {
	origins, err := s.Origins(ctx)
	if err != nil {
		return models.Origin{}, err
	}
	path, err := filepath.Abs(name)
	if err != nil {
		return models.Origin{}, fmt.Errorf("origin %s: %w", name, err)
	}
	var there []models.Origin
	var ids []string
	for _, o := range origins {
		if o.ID == name {
			return o, nil
		}
		if models.Redact(o.URI) == models.Redact(name) || o.URI == path {
			there, ids = append(there, o), append(ids, fmt.Sprintf("%s (%s)", o.ID, o.Kind))
		}
	}
	switch len(there) {
	case 0:
	case 1:
		return there[0], nil
	default:
		return models.Origin{}, fmt.Errorf("origin %s: %d origins have this path or URL, name one by its id: %s: %w",
			strings.TrimSpace(name), len(there), wording.Or(ids...), fault.ErrConflict)
	}
	return models.Origin{}, fmt.Errorf("origin %s: %w; see leasehold origin list", strings.TrimSpace(name), fault.ErrNotFound)
}

// Schedule returns when an origin is visited next, and why then. origin is its id.
func (s *CatalogSource) Schedule(ctx context.Context, origin string) (types.Schedule, error) {
	if s.API != nil {
		return s.API.Schedule(ctx, origin)
	}
	o, err := s.Dir.Visits.Schedule(ctx, time.Now(), origin)
	return api.ScheduleOf(o), err
}

// Capacity returns what a number of slots can hold; 0 stands for those that managers have now, or for present if
// no coordinator runs.
func (s *CatalogSource) Capacity(ctx context.Context, slots, present int) (types.Capacity, error) {
	if s.API != nil {
		return s.API.Capacity(ctx, slots)
	}
	c, err := s.Dir.Visits.Capacity(ctx, time.Now(), cmp.Or(slots, present))
	return api.CapacityOf(c), err
}

// NextVisits returns the n origins that would be visited next, the best first.
func (s *CatalogSource) NextVisits(ctx context.Context, n int) ([]types.NextVisit, error) {
	if s.API != nil {
		return s.API.NextVisits(ctx, n)
	}
	found, err := s.Dir.Visits.Next(ctx, time.Now(), n)
	var next []types.NextVisit
	for _, x := range found {
		next = append(next, api.NextOf(x))
	}
	return next, err
}

// Steer enables or disables an origin, or asks for a visit now (types.Enable, Disable, SaveNow and ForceNow),
// and returns its schedule after that. Origins of the API cannot be steered (fault.ErrInvalid).
func (s *CatalogSource) Steer(ctx context.Context, o models.Origin, what string) (types.Schedule, error) {
	if !o.Kind.Visited() {
		return types.Schedule{}, fmt.Errorf("origins of the API are not visited, because their curators send what they have: %w", fault.ErrInvalid)
	}
	if s.API != nil {
		return s.API.Steer(ctx, o.ID, what)
	}
	if err := s.Dir.Visits.Steer(ctx, time.Now(), o.ID, what); err != nil {
		return types.Schedule{}, err
	}
	return s.Schedule(ctx, o.ID)
}

// Change changes the priority of an origin, its fixed interval and its hours; what change leaves out stays.
func (s *CatalogSource) Change(ctx context.Context, o models.Origin, change types.OriginChange) error {
	if s.API != nil {
		_, err := s.API.ChangeOrigin(ctx, o.ID, change)
		return err
	}
	if v := change.Visiting(); v != (models.Visiting{}) {
		if err := s.Dir.Visits.Set(ctx, time.Now(), o.ID, v); err != nil {
			return err
		}
	}
	if change.Priority == nil {
		return nil
	}
	_, err := s.Catalog.SetOriginPriority(ctx, o.ID, *change.Priority)
	return err
}

// Backup copies the spaces and the catalog to the new folder dest, which is on the coordinator's machine.
func (s *CatalogSource) Backup(ctx context.Context, dest string) error {
	if s.API != nil {
		return s.API.Backup(ctx, dest)
	}
	return s.Dir.Backup(ctx, dest)
}
