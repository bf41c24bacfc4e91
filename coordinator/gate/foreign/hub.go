package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/coordinator/peer"
	"leasehold/shared/fault"
	"leasehold/shared/process/retry"
	"leasehold/shared/process/supervisor"
	"leasehold/shared/protocol/interop"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/memory"
)

// The quotas of each peer over all foreign gates of a hub.
const (
	peerConnections = 1_000
	peerWaiters     = 1_000
)

// maxWaiters bounds the operations that wait, of all foreign clients.
const maxWaiters = 20_000

// Engine is where sessions are opened: an engine.Engine.
type Engine interface {
	OpenGateSession(ctx context.Context, o engine.Opening) (engine.GateSession, error)
}

// Config is what the foreign gates of a coordinator share.
type Config struct {
	Engine      Engine
	Connections int            // at most, over all foreign gates; 0: 10,000
	Exempt      []netip.Prefix // networks whose machines have no quotas (package peer)
	Memory      *memory.Budget // counts connections, requests and answers; nil: no limit
	Log         *slog.Logger   // nil: slog.Default
}

// Hub carries out the operations of foreign clients, of any number of gates. Its methods
// may be called concurrently.
type Hub struct {
	Config

	connections *peer.Quota
	open        atomic.Int64 // connections
	waiters     *peer.Quota
	waiting     atomic.Int64
	panics      atomic.Int64

	mu       sync.Mutex         // guards session
	session  engine.GateSession // of all operations but claims; nil until the first
	sequence atomic.Uint64      // of operations that are confirmed
	confirms confirmations
	refused  *retry.Later // ends of holds that the engine refused for now
	claims   claims
}

// NewHub returns a hub with the defaults of its Config; Run must run while gates serve.
func NewHub(c Config) *Hub {
	c.Connections = cmp.Or(c.Connections, 10_000)
	c.Log = cmp.Or(c.Log, slog.Default())
	return &Hub{
		Config:      c,
		connections: peer.NewQuota("connections to gates for foreign programs", peerConnections),
		waiters:     peer.NewQuota("calls that wait at gates for foreign programs", peerWaiters),
		confirms:    newConfirmations(),
		refused:     retry.NewLater("foreign gates: what clients received, or did not, cannot be acknowledged yet; repeating it", c.Log),
		claims:      newClaims(),
	}
}

// Run confirms what clients have received, and repeats what the engine refused for now, until ctx ends. It must run
// once. Then it confirms the rest, ends the sessions of the hub, so that all holds return, waits until they have ended,
// and returns nil.
func (h *Hub) Run(ctx context.Context) error {
	defer h.claims.watchers.Wait()
	defer h.endSessions()
	return supervisor.Host(ctx, func(ctx context.Context, ready func()) error {
		ready()
		return h.refused.Run(ctx)
	}, h.confirmAll)
}

// confirmAll confirms what clients have received until ctx ends, and then the rest. It pauses between two transactions,
// so that one ends many holds.
func (h *Hub) confirmAll(ctx context.Context) error {
	lasting := context.WithoutCancel(ctx) // ctx may end together with a delivery
	for {
		select {
		case <-ctx.Done():
			h.confirm(lasting)
			return nil
		case <-h.confirms.ready:
			h.confirm(lasting)
		}
		select { // so that one transaction ends many holds
		case <-ctx.Done():
		case <-time.After(confirmInterval):
		}
	}
}

// endSessions ends all sessions in order, after Run has stopped. The claims are closed first, so
// that no session is opened later.
func (h *Hub) endSessions() {
	h.mu.Lock()
	s := h.session
	h.mu.Unlock()
	if s != nil {
		h.endSession(s)
	}
	for _, c := range h.claims.close() {
		h.endSession(c.session)
	}
}

// endSession ends a session in order, so that what it holds returns. It logs an error, unless
// the session or the engine has ended already.
func (h *Hub) endSession(s space.Conn) {
	if err := space.Over(s).Close(context.Background()); err != nil && !errors.Is(err, fault.ErrClosed) && !errors.Is(err, fault.ErrUnavailable) {
		h.Log.Warn("foreign gates: cannot end a session", "session", s.Session(), "error", err)
	}
}

// newSession opens a session without a TTL, so that only the hub or the end of the process ends it.
// The error is the engine's.
func (h *Hub) newSession(ctx context.Context) (engine.GateSession, error) {
	return h.Engine.OpenGateSession(ctx, engine.Opening{
		ID: fmt.Sprintf("foreign-%08x", rand.Uint32()), Process: space.Process{Mode: "foreign"}, // of an unknown host, because each worker has its own
	})
}

// currentSession returns the session of ordinary operations, and opens it if there is none or
// the engine has ended it. It holds mu meanwhile, so that only one is opened. The error is the
// engine's.
func (h *Hub) currentSession(ctx context.Context) (engine.GateSession, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != nil {
		select {
		case <-h.session.Ended():
		default:
			return h.session, nil
		}
	}
	s, err := h.newSession(ctx)
	if err != nil {
		return nil, err
	}
	h.session = s
	return s, nil
}

// Create makes a space if it does not exist. It accepts an existing one with any options. The
// error is the engine's.
func (h *Hub) Create(ctx context.Context, name string) error {
	s, err := h.currentSession(ctx)
	if err != nil {
		return err
	}
	err = space.Over(s).Create(ctx, name, space.Options{})
	if errors.Is(err, fault.ErrConflict) {
		return nil
	}
	return err
}

// takeWaiter counts an operation that may wait, for its peer and in all.
func (h *Hub) takeWaiter(p peer.Peer) error {
	if err := h.waiters.Take(p); err != nil {
		return err
	}
	if n := h.waiting.Add(1); n > maxWaiters {
		h.returnWaiter(p)
		return fmt.Errorf("%d calls of foreign clients are already waiting, the maximum: %w", n-1, fault.ErrOverloaded)
	}
	return nil
}

// returnWaiter undoes a takeWaiter that succeeded.
func (h *Hub) returnWaiter(p peer.Peer) {
	h.waiters.Return(p)
	h.waiting.Add(-1)
}

// overPatterns returns the client of patterns over a session.
func overPatterns(s space.Conn) interop.Client { return interop.Client{Repo: space.Over(s)} }
