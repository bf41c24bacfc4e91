package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"sync"

	"leasehold/models"
	"leasehold/shared/catalog"
	catalogremote "leasehold/shared/catalog/remote"
	"leasehold/shared/config"
	"leasehold/shared/datadir"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
)

// maxOutposts bounds how many managers, or workers, of one machine share a data
// folder; each has a folder of its own in it.
const maxOutposts = 1000

// outpost is what a manager or a worker has of its own, away from the coordinator.
type outpost struct {
	cfg     config.Config
	mode    string
	log     *slog.Logger
	catalog catalog.Catalog
	cache   string // folder
	fetch   *fetch.Fetcher
	closers []func() error

	mu    sync.Mutex
	first *remote.Conn // the session that found the coordinator, not used yet
}

// openOutpost waits for the coordinator, and opens what it needs to work for it.
func (a *app) openOutpost(ctx context.Context, cfg config.Config, mode string) (*outpost, error) {
	o := &outpost{cfg: cfg, mode: mode, log: a.newLogger(cfg)}
	if err := o.open(ctx); err != nil {
		return nil, errors.Join(err, o.close())
	}
	fmt.Fprintf(a.err, "%s: session %s at %s\n", mode, o.first.Session(), cfg.Host)
	return o, nil
}

func (o *outpost) open(ctx context.Context) error {
	dir, release, err := lockOne(o.cfg.Data, o.mode)
	if err != nil {
		return err
	}
	o.closers = append(o.closers, release)
	o.cache = filepath.Join(dir, "cache")
	o.fetch, err = newFetcher(o.cfg, o.cache)
	if err != nil {
		return err
	}
	o.closers = append(o.closers, o.fetch.Close)
	if o.first, err = o.dial(ctx); err != nil {
		return err
	}
	o.closers = append(o.closers, o.endFirst)
	http := o.first.Welcome().HTTP
	if _, _, err := net.SplitHostPort(http); err != nil {
		return fmt.Errorf("the coordinator at %s says no address of its API (%q): %w", o.cfg.Host, http, fault.ErrInvalid)
	}
	client, err := catalogremote.New(announced(o.cfg.Host, http))
	if err != nil {
		return err
	}
	o.catalog = client
	o.closers = append(o.closers, client.Close)
	return o.trust(ctx)
}

// lockOne takes the first folder DIR/mode-N that no other process has.
func lockOne(dir, mode string) (path string, release func() error, err error) {
	for n := range maxOutposts {
		path = filepath.Join(dir, fmt.Sprintf("%s-%d", mode, n+1))
		release, err = datadir.Lock(path)
		if !errors.Is(err, fault.ErrConflict) {
			return path, release, err
		}
	}
	return "", nil, err
}

func (o *outpost) dial(ctx context.Context) (*remote.Conn, error) {
	return remote.Dial(ctx, remote.Config{Address: o.cfg.Host, Mode: o.mode, Session: remote.SessionID(o.mode), TTL: o.cfg.SessionLost, Log: o.log})
}

// connect opens a session: the first one is there already.
func (o *outpost) connect(ctx context.Context) (space.Repository, error) {
	o.mu.Lock()
	conn := o.first
	o.first = nil
	o.mu.Unlock()
	if conn == nil {
		var err error
		if conn, err = o.dial(ctx); err != nil {
			return nil, err
		}
	}
	return space.Over(conn), nil
}

// endFirst ends the first session if nothing has used it.
func (o *outpost) endFirst() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.first == nil {
		return nil
	}
	return space.Over(o.first).Close(context.Background())
}

// trust lets the fetcher read what the origins of the coordinator's operator name.
func (o *outpost) trust(ctx context.Context) error {
	origins, err := o.catalog.Origins(ctx)
	if err != nil {
		return err
	}
	for _, origin := range origins {
		if err := trust(o.fetch, origin); err != nil {
			o.log.Debug("an origin cannot be read here", "origin", origin.URI, "error", err)
		}
	}
	return nil
}

// Fetch implements research.Media: what is refused may be of an origin that was
// added since.
func (o *outpost) Fetch(ctx context.Context, ref models.MediaRef) (fetch.File, error) {
	f, err := o.fetch.Fetch(ctx, ref)
	if !errors.Is(err, fault.ErrInvalid) {
		return f, err
	}
	if err := o.trust(ctx); err != nil {
		return fetch.File{}, err
	}
	return o.fetch.Fetch(ctx, ref)
}

// close gives everything up, last opened first.
func (o *outpost) close() error { return closeAll(o.closers) }

// ended makes the end of ctx no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
