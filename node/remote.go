package node

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"

	"leasehold/models"
	"leasehold/node/locate"
	apicatalog "leasehold/shared/api/catalog"
	"leasehold/shared/api/client"
	apicode "leasehold/shared/api/code"
	"leasehold/shared/api/join"
	"leasehold/shared/catalog"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/identity"
	"leasehold/shared/process/clock"
	"leasehold/shared/process/datadir"
	"leasehold/shared/process/members"
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
	gates   *members.List // of the coordinators that serve the realm in turn
	index   *apicode.Client
	dir     string
	cache   string // folder
	fetcher *fetch.Fetcher
	opened  supervisor.Stack
	line    *identity.Line // nil: the coordinator does not authenticate
	member  *join.Member   // of line
	figures *figures

	mu     sync.Mutex   // guards what follows
	first  *remote.Conn // the session that reached the coordinator; nil once connect has returned it
	latest *remote.Conn // the session that was opened last
}

// openRemote locks a folder for this process, waits for the coordinator and opens its catalog.
func openRemote(ctx context.Context, cfg config.Config, mode string, log *slog.Logger) (*remoteNode, error) {
	cfg.Mode = mode
	line, err := locate.JoinLine(cfg)
	if err != nil {
		return nil, err
	}
	if line == nil {
		cfg.Hosts = locate.ChooseGates(ctx, cfg)
	} else {
		cfg.Hosts = line.Addresses
	}
	slots := cfg.Slots
	if mode == config.Manager {
		slots = max(cfg.VisitSlots, 1)
	}
	r := &remoteNode{cfg: cfg, mode: mode, log: log, line: line, gates: members.New(cfg.Hosts...), figures: newFigures(slots)}
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
	if err := r.join(ctx); err != nil {
		return err
	}
	if err := r.serveMetrics(ctx); err != nil {
		return err
	}
	if r.first, err = r.dial(ctx); err != nil {
		return err
	}
	r.opened.Push(r.closeFirst)
	forCatalog, err := r.newClient()
	if err != nil {
		return err
	}
	client := apicatalog.Over(forCatalog)
	r.catalog = client
	r.opened.Push(client.Close)
	forIndex, err := r.newClient()
	if err != nil {
		return err
	}
	if r.index, err = apicode.Over(forIndex, filepath.Join(dir, segmentDir)); err != nil {
		return err
	}
	r.opened.Push(r.index.Close)
	return r.trustOrigins(ctx)
}

// join joins by the join line, or goes on with the certificate of a process that has joined, and keeps the certificate
// renewed until r is closed. It does nothing without either.
func (r *remoteNode) join(ctx context.Context) (err error) {
	if r.line == nil {
		r.line, err = r.lineless()
	}
	if r.line == nil || err != nil {
		return err
	}
	r.member, err = join.Open(ctx, join.Config{Line: *r.line, Gates: r.gates, Dir: r.dir, Name: r.processName(), Now: clock.Now, Log: r.log})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.member.Run(running)
	}()
	r.opened.Push(func() error { stop(); <-ended; return nil })
	return nil
}

// lineless returns what is left of the join line of a process that has joined and is started without the line: the CA
// from its certificate, and no secret. It is nil if the process has not joined.
func (r *remoteNode) lineless() (*identity.Line, error) {
	certificate, err := identity.LoadProcess(r.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	cas := identity.IssuersOf(certificate, clock.Now())
	if len(cas) == 0 {
		return nil, fmt.Errorf("%s: %w: it names no CA: remove it, and start with --join", filepath.Join(r.dir, identity.CertificateFile), fault.ErrInvalid)
	}
	return &identity.Line{Role: r.mode, CA: cas[0], Addresses: r.cfg.Hosts}, nil
}

// processName returns the name of this process for people.
func (r *remoteNode) processName() string {
	return cmp.Or(r.workerName(), space.ThisProcess(r.mode).Host+"/"+filepath.Base(r.dir))
}

// contentServer and contentClient are the configurations of TLS of a manager that serves files and of the workers that
// read them; nil: they need none.
func (r *remoteNode) contentServer() *tls.Config {
	if r.member == nil {
		return nil
	}
	return r.member.ContentServer()
}

func (r *remoteNode) contentClient() *tls.Config {
	if r.member == nil {
		return nil
	}
	return r.member.ContentClient()
}

// newClient returns a client of the coordinator's API. The first session must be open.
func (r *remoteNode) newClient() (*client.Client, error) {
	if r.member != nil {
		return r.member.Client()
	}
	if _, err := r.apiAddress(); err != nil {
		return nil, err
	}
	return client.NewWith("http://coordinator", client.Options{Dial: r.dialAPI})
}

// dialAPI opens a connection to the API of the coordinator at which the latest session is, which may be another one
// than before.
func (r *remoteNode) dialAPI(ctx context.Context) (net.Conn, error) {
	address, err := r.apiAddress()
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

// apiAddress returns the address of the API, as the gate reported it at the latest handshake.
func (r *remoteNode) apiAddress() (string, error) {
	r.mu.Lock()
	http := r.latest.Welcome().HTTP
	r.mu.Unlock()
	gate := r.gates.First()
	if _, _, err := net.SplitHostPort(http); err != nil {
		return "", fmt.Errorf("the coordinator at %s did not report its API address (%q): %w", gate, http, fault.ErrInvalid)
	}
	return strings.TrimPrefix(locate.ReachableAPI(gate, http), "http://"), nil
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
	c := remote.Config{Members: r.gates, Mode: r.mode, Name: r.workerName(), Session: remote.SessionID(r.mode), TTL: r.cfg.SessionLost, Log: r.log}
	if r.member == nil {
		return r.note(remote.Dial(ctx, c))
	}
	c.Dial = r.member.DialAt
	var conn *remote.Conn
	err := r.asMember(ctx, func() (err error) {
		conn, err = remote.Dial(ctx, c)
		return err
	})
	if errors.Is(err, fault.ErrInvalid) && r.line.Secret == (identity.Secret{}) {
		err = fmt.Errorf("%w; this process has joined a coordinator that authenticates: remove %s to use another one", err, filepath.Join(r.dir, identity.CertificateFile))
	}
	return r.note(conn, err)
}

// note keeps a session that was opened as the latest one. It returns what it gets.
func (r *remoteNode) note(conn *remote.Conn, err error) (*remote.Conn, error) {
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.latest = conn
	}
	return conn, err
}

// asMember calls f, and once more after the process has joined again if the coordinator does not know it any more, such as
// one that was restored from a backup.
func (r *remoteNode) asMember(ctx context.Context, f func() error) error {
	err := f()
	if r.member == nil || !errors.Is(err, fault.ErrUnauthenticated) {
		return err
	}
	if err := r.member.Rejoin(ctx); err != nil {
		return err
	}
	return f()
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
	return nameOf(r.mode, dir)
}

// nameOf returns the name of a process of a mode that has a folder, which it has again after a restart.
func nameOf(mode, dir string) string {
	// The whole path, because processes with different data folders are different ones.
	name := space.ThisProcess(mode).Host + "/" + strings.TrimPrefix(filepath.ToSlash(dir), "/")
	return name[max(0, len(name)-space.MaxName):] // the end, which differs between processes of a machine
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
	err := r.asMember(ctx, func() error {
		return catalog.RetryUnavailable(ctx, r.log, func() (err error) {
			origins, err = r.catalog.Origins(ctx)
			return err
		})
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
