package native

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"leasehold/shared/space"
	"leasehold/shared/space/engine"
)

// Bounds of a session's calls.
const (
	// maxCalls are those that were not answered, or whose answer was not
	// acknowledged. A client has space.Window at most at a time; the rest is for
	// its acknowledgements.
	maxCalls = 4 * space.Window
	// maxInFlight bounds the bytes of such requests, and of such answers that are kept.
	maxInFlight = 16 << 20
	// maxLarge is how many large answers are made and sent at a time, so that a
	// client that does not read them holds up itself, and no memory.
	maxLarge = 4
	// largeAnswer is how many bytes make an answer a large one.
	largeAnswer = 4 << 10
)

// maxTTL bounds how long a client that is dead may keep what it holds.
const maxTTL = time.Hour

// Engine is where sessions are opened: an engine.Engine.
type Engine interface {
	OpenGateSession(ctx context.Context, id string, ttl time.Duration, resume bool) (engine.GateSession, error)
}

// Config says what a gate opens, and to how many.
type Config struct {
	Engine Engine
	// What clients are told: where the coordinator's API is, how often managers
	// and workers should give a sign of life, and after which silence they are
	// lost.
	HTTP      string
	Heartbeat time.Duration // 0: 2 s
	Lost      time.Duration // 0: 6 s

	// LargeAnswers are procedures whose answers are large: each is carried out only once
	// there is room for one. They must not wait for a tuple.
	LargeAnswers []string

	Connections int           // at most, 0: 10,000
	Rate        int           // connections taken in a second, when more than a tenth of that come at once; 0: 1,000
	Handshake   time.Duration // in which a connection must say who it is; 0: 5 s
	Ping        time.Duration // silence after which either side asks; 0: 30 s
	Grace       time.Duration // how long a session without a TTL may be without a connection; 0: Lost
	Log         *slog.Logger  // nil: slog.Default
}

// Gate opens one engine to a network. Its methods may be called concurrently.
type Gate struct {
	Config
	mu     sync.Mutex // guards what follows
	open   int        // connections
	panics int

	opening  sync.Mutex // guards sessions, and is held while one is opened
	sessions map[string]*session
}

// New returns a gate; Serve opens it.
func New(c Config) *Gate {
	orElse(&c.Heartbeat, 2*time.Second)
	orElse(&c.Lost, 6*time.Second)
	orElse(&c.Connections, 10_000)
	orElse(&c.Rate, 1_000)
	orElse(&c.Handshake, 5*time.Second)
	orElse(&c.Ping, 30*time.Second)
	orElse(&c.Grace, c.Lost)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return &Gate{Config: c, sessions: map[string]*session{}}
}

func orElse[T comparable](v *T, other T) {
	var zero T
	if *v == zero {
		*v = other
	}
}
