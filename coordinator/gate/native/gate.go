package native

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/coordinator/gate/mux"
	"leasehold/coordinator/peer"
	"leasehold/shared/access"
	"leasehold/shared/process/histogram"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/memory"
)

// Bounds of a session's calls.
const (
	// maxCalls bounds the calls that were not answered, or whose answer was not
	// acknowledged. A client sends at most space.Window at a time; the rest is for
	// its acknowledgements.
	maxCalls = 4 * space.Window
	// maxInFlight bounds the bytes of these requests, and of the answers that are kept.
	maxInFlight = 16 << 20
	// maxLarge is how many large answers of a session are made and sent at a time, so
	// that a client that does not read them delays only itself and takes no memory.
	maxLarge = 4
	// largeAnswer is the size in bytes from which an answer is large.
	largeAnswer = 4 << 10
)

// Estimates of memory, in bytes of heap and stacks. The engine counts blocked calls.
const (
	sessionCost = 32 << 10 // of a session with its connection
	callCost    = 4 << 10  // of a call
	bodyCopies  = 2        // of a request: decoded, and as the engine keeps it
)

// Engine is where sessions are opened: an engine.Engine.
type Engine interface {
	OpenGateSession(ctx context.Context, o engine.Opening) (engine.GateSession, error)
	EndSession(ctx context.Context, id string) error
}

// Config is what a gate opens, and its limits.
type Config struct {
	Engine Engine
	// The handshake tells clients the address of the coordinator's API, how often
	// managers and workers should give a sign of life, and after which silence their
	// sessions are lost.
	HTTP      string
	Heartbeat time.Duration // 0: 2 s
	Lost      time.Duration // 0: 6 s

	// Identify returns the identity of a connection, which its certificate proves, if the client has sent no
	// token; nil: every client may do everything. Check refuses a request that an identity may not make; nil: none.
	Identify func(net.Conn) (access.Identity, error)
	// ByToken returns the identity that the token of a connection's client proves; nil: tokens are ignored.
	ByToken func(c net.Conn, token string) (access.Identity, error)
	Check   func(i access.Identity, session string, r space.Request) error

	// LargeAnswers are procedures whose answers are large: a call of one begins only
	// when fewer than maxLarge of its session are made. They must not wait for a tuple.
	LargeAnswers []string

	Connections int            // at most, 0: 10,000; a tenth of them is for managers and workers
	Rate        int            // connections accepted in a second, when more than a tenth of that come at once; 0: 1,000
	Handshake   time.Duration  // in which a client must complete the handshake; 0: 5 s
	Ping        time.Duration  // silence after which either side sends a ping; 0: 30 s
	Grace       time.Duration  // how long a session without a TTL may be without a connection; 0: Lost
	Exempt      []netip.Prefix // networks whose machines have no quotas (package peer)
	// Calls, by verb, measures the calls from the request to the answer, with the time that
	// they wait for a tuple; a verb without a histogram is not measured.
	Calls  map[space.Verb]*histogram.Histogram
	Spaces *peer.Spaces // counts the spaces that peers create; nil: those over this gate only
	// MaxTTL bounds the TTL of sessions, and so how long a dead client keeps the tuples that
	// it holds; 0: 60 s.
	MaxTTL time.Duration
	// Memory counts sessions, frames and calls, and refuses them when it is used up; nil: no
	// limit.
	Memory *memory.Budget
	Log    *slog.Logger // nil: slog.Default
}

// Gate opens one engine to a network. Its methods may be called concurrently.
type Gate struct {
	Config

	slots         slots
	peerSessions  *peer.Quota
	waiters       *peer.Quota  // calls that may wait
	clientWaiters atomic.Int64 // those of clients that are not of the fleet, at most maxClientWaiters

	maxClientWaiters int64

	mu     sync.Mutex // guards panics
	panics int

	opening  sync.Mutex // guards sessions; never waited for with a session's mu held
	sessions map[string]*session

	refused mux.Refusals // that were logged
}

// New returns a gate with the defaults of its Config; Serve opens it.
func New(c Config) *Gate {
	c.Heartbeat = cmp.Or(c.Heartbeat, 2*time.Second)
	c.Lost = cmp.Or(c.Lost, 6*time.Second)
	c.Connections = cmp.Or(c.Connections, 10_000)
	c.Rate = cmp.Or(c.Rate, 1_000)
	c.Handshake = cmp.Or(c.Handshake, 5*time.Second)
	c.Ping = cmp.Or(c.Ping, 30*time.Second)
	c.Grace = cmp.Or(c.Grace, c.Lost)
	c.MaxTTL = cmp.Or(c.MaxTTL, time.Minute)
	c.Log = cmp.Or(c.Log, slog.Default())
	if c.Identify == nil {
		c.Identify = func(net.Conn) (access.Identity, error) { return access.Everybody, nil }
	}
	if c.Check == nil {
		c.Check = func(access.Identity, string, space.Request) error { return nil }
	}
	if c.Spaces == nil {
		c.Spaces = peer.NewSpaces()
	}
	return &Gate{
		Config: c, sessions: map[string]*session{},
		slots:        slots{max: c.Connections, peers: peer.NewQuota("connections", peerConnections)},
		peerSessions: peer.NewQuota("sessions", peerSessions),
		waiters:      peer.NewQuota("calls that wait", peerWaiters), maxClientWaiters: maxClientWaiters,
	}
}
