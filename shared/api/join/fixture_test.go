package join_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/admission"
	"leasehold/coordinator/api"
	"leasehold/coordinator/auth"
	"leasehold/coordinator/authority"
	"leasehold/coordinator/gate/mux"
	"leasehold/shared/access"
	"leasehold/shared/api/join"
	"leasehold/shared/catalog/sqlfile"
	"leasehold/shared/catalog/store"
	"leasehold/shared/identity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is the time of a coordinator and of its processes, which the test moves.
type clock struct {
	mu     sync.Mutex // guards offset
	offset time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// coordinator is a coordinator's port with TLS and the API that joins processes.
type coordinator struct {
	*testing.T
	*clock
	*auth.Auth
	authority *authority.Authority
	address   string
	log       *lockedBuffer // of its processes
	stop      func()        // closes the port
	handler   http.Handler  // nil: that of a coordinator that serves

	mu    sync.Mutex // guards paths
	paths []string   // of the requests that arrived
}

// lockedBuffer is a log that may be read while it is written.
type lockedBuffer struct {
	mu      sync.Mutex // guards b
	b       bytes.Buffer
	written chan struct{} // has a value after a write
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.written <- struct{}{}:
	default:
	}
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newCoordinator starts a coordinator at a free port of this machine.
func newCoordinator(t *testing.T) *coordinator {
	t.Helper()
	h := newStopped(t)
	h.start()
	return h
}

// newStopped returns a coordinator whose port is not open yet.
func newStopped(t *testing.T) *coordinator {
	t.Helper()
	h := &coordinator{T: t, clock: &clock{}, address: freeAddress(t), log: &lockedBuffer{written: make(chan struct{}, 1)}, stop: func() {}}
	var err error
	h.authority, err = authority.Create(filepath.Join(t.TempDir(), "identity"), h.now)
	require.NoError(t, err)
	h.forget()
	t.Cleanup(func() { h.stop() })
	return h
}

// newStandby starts a coordinator of the same realm that stands by.
func (h *coordinator) newStandby() *coordinator {
	h.Helper()
	s := &coordinator{T: h.T, clock: h.clock, Auth: h.Auth, authority: h.authority, address: freeAddress(h.T), log: h.log}
	s.handler = api.NewStandby(api.Standby{Owner: func() string { return "https://" + h.address }, Log: slog.New(slog.DiscardHandler)})
	s.start()
	h.Cleanup(func() { s.stop() })
	return s
}

// freeAddress returns the address of a port of this machine that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

// forget gives the coordinator an empty database, as after a restore of a backup from before every join.
func (h *coordinator) forget() {
	h.Helper()
	file, err := sqlfile.Open(context.Background(), filepath.Join(h.TempDir(), "catalog.db"), store.Format(admission.Schema()))
	require.NoError(h, err)
	h.Cleanup(func() { require.NoError(h, file.Close()) })
	store, err := admission.New(h.Context(), file, h.now)
	require.NoError(h, err)
	h.Auth = auth.New(auth.Config{Authority: h.authority, Store: store, Now: h.now, Log: slog.New(slog.DiscardHandler)})
}

// start opens the port, until stop.
func (h *coordinator) start() {
	h.Helper()
	base, err := net.Listen("tcp", h.address)
	require.NoError(h, err)
	port := mux.New(base, mux.Config{TLS: h.authority.ServerConfig(func() []string { return nil }), Log: slog.New(slog.DiscardHandler)})
	listener := port.Listener(mux.HTTP)
	handler := h.handler
	if handler == nil {
		handler = api.New(api.Config{Auth: h.Auth, Log: slog.New(slog.DiscardHandler)})
	}
	noted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.paths = append(h.paths, r.URL.Path)
		h.mu.Unlock()
		handler.ServeHTTP(w, r)
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = port.Serve(ctx) })
	running.Go(func() { _ = api.ServeUpTo(ctx, listener, noted, 100, h.ConnContext) })
	h.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
}

// requests returns the paths of the requests that have arrived since the last call, without their prefix.
func (h *coordinator) requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	paths := slices.Clone(h.paths)
	h.paths = nil
	for i, path := range paths {
		paths[i] = path[len("/api/v1/"):]
	}
	return paths
}

// invite returns the join line of a new invite for workers.
func (h *coordinator) invite(i admission.Invite) identity.Line {
	h.Helper()
	i.Role = access.Worker
	_, line, err := h.Invite(h.Context(), i, []string{h.address})
	require.NoError(h, err)
	return line
}

// config is the configuration of a process with a folder (empty: none).
func (h *coordinator) config(line identity.Line, dir string) join.Config {
	return join.Config{Line: line, Dir: dir, Name: "box", Now: h.now, Log: slog.New(slog.NewTextHandler(h.log, nil))}
}

// open opens a process with a folder (empty: none).
func (h *coordinator) open(line identity.Line, dir string) (*join.Member, error) {
	return join.Open(h.Context(), h.config(line, dir))
}

// mustOpen is open for a process that is admitted.
func (h *coordinator) mustOpen(line identity.Line, dir string) *join.Member {
	h.Helper()
	m, err := h.open(line, dir)
	require.NoError(h, err)
	return m
}

// requireAdmitted fails unless the coordinator knows the process at the other end of a new connection, and returns its id.
func (h *coordinator) requireAdmitted(m *join.Member) (id string) {
	h.Helper()
	api, err := m.Client()
	require.NoError(h, err)
	defer api.Close()
	_, err = api.Peers(h.Context(), true)
	require.ErrorContains(h, err, "it needs the role admin, and peer-") // so it has an identity
	peers := h.Store.Peers(false)
	require.Len(h, peers, 1)
	return peers[0].ID
}

// used returns how many processes have joined by the only invite.
func (h *coordinator) used() int {
	h.Helper()
	all, err := h.Store.Invites(h.Context())
	require.NoError(h, err)
	require.Len(h, all, 1)
	return all[0].Used
}
