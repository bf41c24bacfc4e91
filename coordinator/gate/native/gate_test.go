package native_test

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/transaction/transactiontest"
	"leasehold/shared/work/worktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// quiet is a log for tests that cause warnings.
var quiet = slog.New(slog.DiscardHandler)

// port is a listener whose connections are pipes, so that it works in a synctest bubble.
// Its dial has the signature of remote.Config.Dial.
type port struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPort() *port { return &port{conns: make(chan net.Conn), done: make(chan struct{})} }

// dial returns the client's end of a pipe, once the gate has accepted the other end.
func (p *port) dial(ctx context.Context, _ string) (net.Conn, error) {
	client, gate := net.Pipe()
	select {
	case p.conns <- gate:
		return client, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept returns the next connection that dial opens.
func (p *port) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *port) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *port) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// currentPort dials the port open now.
type currentPort struct{ now atomic.Pointer[port] }

func (d *currentPort) dial(ctx context.Context, address string) (net.Conn, error) {
	return d.now.Load().dial(ctx, address)
}

// fixture is an engine with a gate at a port.
type fixture struct {
	*testing.T
	engine *engine.Engine
	gate   *native.Gate
	port   currentPort
	shut   func() // closes the gate, and waits
}

// newFixture runs an engine and a gate until the test ends.
func newFixture(t *testing.T, p space.Procedures, c native.Config) *fixture {
	t.Helper()
	e, err := engine.Open(t.Context(), engine.Config{Journal: &journal.Memory{}, Procedures: p, Log: quiet})
	require.NoError(t, err)
	fx := &fixture{T: t, engine: e}
	start(t, e.Run)
	fx.openGate(c)
	return fx
}

// start runs f until the test ends, or stop is called.
func start(t testing.TB, f func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	var once sync.Once
	stop = func() { once.Do(func() { cancel(); require.NoError(t, <-done) }) }
	t.Cleanup(stop)
	return stop
}

// openGate opens another gate at the fixture's engine, at a port of its own.
func (fx *fixture) openGate(c native.Config) {
	c.Engine, c.Log, c.MaxTTL = fx.engine, quiet, cmp.Or(c.MaxTTL, time.Hour)
	fx.gate = native.New(c)
	fx.serve()
}

// serve opens the fixture's gate at a new port.
func (fx *fixture) serve() {
	port := newPort()
	fx.port.now.Store(port)
	fx.shut = start(fx.T, func(ctx context.Context) error { return fx.gate.Serve(ctx, port) })
}

// dial opens a session over the gate.
func (fx *fixture) dial(ctx context.Context, c remote.Config) (*remote.Conn, error) {
	if c.Dial == nil {
		c.Dial = fx.port.dial
	}
	c.Log = quiet
	conn, err := remote.Dial(ctx, c)
	if err == nil {
		fx.Cleanup(func() { _ = space.Over(conn).Close(context.Background()) })
	}
	return conn, err
}

// session opens a session that must succeed.
func (fx *fixture) session(id string, ttl time.Duration) *remote.Conn {
	fx.Helper()
	c, err := fx.dial(fx.Context(), remote.Config{Session: id, TTL: ttl})
	require.NoError(fx, err)
	return c
}

// openOverGate runs an engine with a gate, and opens repositories over it.
func openOverGate(t *testing.T, p space.Procedures) spacetest.Open {
	fx := newFixture(t, p, native.Config{})
	return func(ctx context.Context, id string, ttl time.Duration) (space.Repository, error) {
		c, err := fx.dial(ctx, remote.Config{Session: id, TTL: ttl})
		if err != nil {
			return nil, err
		}
		return space.Over(c), nil
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	spacetest.Exercise(t, openOverGate)
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	transactiontest.Exercise(t, openOverGate)
}

func TestProtocols(t *testing.T) {
	t.Parallel()
	worktest.Exercise(t, func(t testing.TB, e *engine.Engine, id string, ttl time.Duration) space.Repository {
		fx := &fixture{T: t.(*testing.T), engine: e}
		fx.openGate(native.Config{})
		return space.Over(fx.session(id, ttl))
	})
}
