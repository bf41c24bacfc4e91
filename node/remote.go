package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"

	"leasehold/models"
	"leasehold/node/locate"
	apicatalog "leasehold/shared/api/catalog"
	apicode "leasehold/shared/api/code"
	"leasehold/shared/catalog"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/process/datadir"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
)

// maxSharing is how many managers, or workers, of one machine may share a data folder;
// each locks a folder of its own in it.
const maxSharing = 1000

// remoteNode is what a manager or a worker has if its coordinator is another process.
type remoteNode struct {
	cfg     config.Config
	mode    string
	log     *slog.Logger
	catalog catalog.Catalog
	index   *apicode.Client
	dir     string
	cache   string // folder
	fetcher *fetch.Fetcher
	opened  supervisor.Stack

	mu    sync.Mutex   // guards first
	first *remote.Conn // the session that reached the coordinator; nil once connect has returned it
}

// openRemote locks a folder for this process, waits for the coordinator and opens its catalog.
func openRemote(ctx context.Context, cfg config.Config, mode string, log *slog.Logger) (*remoteNode, error) {
	cfg.Host = locate.ChooseGate(ctx, cfg)
	r := &remoteNode{cfg: cfg, mode: mode, log: log}
	if err := r.open(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// open locks a folder, opens the cache, and connects to the coordinator, for which it waits. What it has opened
// is in r.opened, also if it fails.
func (r *remoteNode) open(ctx context.Context) error {
	dir, release, err := lockFirstFree(r.cfg.Data, r.mode)
	if err != nil {
		return err
	}
	r.opened.Push(release)
	r.dir = dir
	r.cache = filepath.Join(dir, cacheDir)
	if r.fetcher, err = newFetcher(r.cfg, r.cache); err != nil {
		return err
	}
	r.opened.Push(r.fetcher.Close)
	if r.first, err = r.dial(ctx); err != nil {
		return err
	}
	r.opened.Push(r.closeFirst)
	http := r.first.Welcome().HTTP
	if _, _, err := net.SplitHostPort(http); err != nil {
		return fmt.Errorf("the coordinator at %s did not report its API address (%q): %w", r.cfg.Host, http, fault.ErrInvalid)
	}
	client, err := apicatalog.New(locate.ReachableAPI(r.cfg.Host, http))
	if err != nil {
		return err
	}
	r.catalog = client
	r.opened.Push(client.Close)
	if r.index, err = apicode.New(locate.ReachableAPI(r.cfg.Host, http), filepath.Join(dir, segmentDir)); err != nil {
		return err
	}
	r.opened.Push(r.index.Close)
	return r.trustOrigins(ctx)
}

// lockFirstFree locks the first folder dir/mode-N that no other process holds, with N up to maxSharing.
func lockFirstFree(dir, mode string) (path string, release func() error, err error) {
	for n := range maxSharing {
		path = filepath.Join(dir, fmt.Sprintf("%s-%d", mode, n+1))
		release, err = datadir.Lock(path)
		if !errors.Is(err, fault.ErrConflict) {
			return path, release, err
		}
	}
	return "", nil, err
}

// dial opens a session at the coordinator, for which it waits until ctx ends.
func (r *remoteNode) dial(ctx context.Context) (*remote.Conn, error) {
	return remote.Dial(ctx, remote.Config{Address: r.cfg.Host, Mode: r.mode, Name: r.workerName(), Session: remote.SessionID(r.mode), TTL: r.cfg.SessionLost, Log: r.log})
}

// workerName returns the name of a worker, which it has again after a restart: the configured one, or one made of
// its machine and the folder that it locks. A manager has only a configured one.
func (r *remoteNode) workerName() string {
	if r.mode != config.Worker || r.cfg.Name != "" {
		return r.cfg.Name
	}
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		dir = r.dir
	}
	// The whole path, because workers with different data folders are different workers.
	name := space.ThisProcess(r.mode).Host + "/" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
	return name[max(0, len(name)-space.MaxName):] // the end, which differs between workers of a machine
}

// session returns the id of the first session. It must be called before connect, which takes it.
func (r *remoteNode) session() string { return r.first.Session() }

// connect opens a session and notes its id for Health. The first call returns the session that open has dialled.
func (r *remoteNode) connect(ctx context.Context) (space.Repository, error) {
	r.mu.Lock()
	conn := r.first
	r.first = nil
	r.mu.Unlock()
	if conn == nil {
		var err error
		if conn, err = r.dial(ctx); err != nil {
			return nil, err
		}
	}
	writeSession(r.dir, conn.Session(), r.log)
	return space.Over(conn), nil
}

// closeFirst closes the first session if connect has not returned it.
func (r *remoteNode) closeFirst() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first == nil {
		return nil
	}
	return space.Over(r.first).Close(context.Background())
}

// trustOrigins allows the fetcher to read the folders and addresses that origins of the catalog name. One that
// this machine cannot read is logged only, because it may be for other machines.
func (r *remoteNode) trustOrigins(ctx context.Context) error {
	var origins []models.Origin
	err := catalog.RetryUnavailable(ctx, r.log, func() (err error) {
		origins, err = r.catalog.Origins(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, origin := range origins {
		if err := r.fetcher.Trust(origin); err != nil {
			r.log.Debug("cannot read an origin on this machine", "origin", origin.URI, "error", err)
		}
	}
	return nil
}

// Fetch implements research.Media. If the fetcher refuses ref, Fetch trusts the current origins and tries once
// more, because the origin of ref may have been added since.
func (r *remoteNode) Fetch(ctx context.Context, ref models.MediaRef) (fetch.File, error) {
	f, err := r.fetcher.Fetch(ctx, ref)
	if !fetch.Refused(err) {
		return f, err
	}
	if err := r.trustOrigins(ctx); err != nil {
		return fetch.File{}, err
	}
	return r.fetcher.Fetch(ctx, ref)
}

func (r *remoteNode) close() error { return r.opened.Close() }
