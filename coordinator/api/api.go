package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"leasehold/coordinator/actions"
	"leasehold/coordinator/auth"
	"leasehold/coordinator/hub"
	"leasehold/coordinator/peer"
	"leasehold/coordinator/visits"
	"leasehold/shared/access"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/process/histogram"
	"leasehold/shared/process/retry"
	"leasehold/shared/process/tracing"
	"leasehold/shared/protocol/hold"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/browse"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/memory"
)

// Limits of requests and responses.
const (
	maxBody     = 1 << 20          // bytes of a request body
	maxListing  = 64 << 20         // bytes of a manager's listing: the maximum size of a feed
	maxPage     = 10_000           // items of a list
	maxTuples   = 1_000            // items of a list of tuples or tasks, which may be large
	maxWait     = 25 * time.Second // that a request may ask to wait
	MaxInFlight = 256              // concurrent requests of managers, and as many others; without health, metrics and the page
	maxListings = 4                // concurrent bulk requests
	maxScrapes  = 4                // concurrent requests of metrics
	maxWaiting  = 4_000            // concurrent requests that may wait for a task

	// peerRequests and peerWaiting bound the concurrent requests of one peer, without those of
	// managers: those that may wait for a task, and the others.
	peerRequests = 64
	peerWaiting  = 1_000
	// peerBeats bounds the concurrent heartbeats of one peer. Each worker over HTTP keeps one waiting, beside its claim,
	// and may send another one. Those of all are as many as claims may wait.
	peerBeats = 2 * peerSessions

	callTimeout = 30 * time.Second // of one request, from its first byte to its last
	bulkTimeout = 5 * time.Minute  // of a request with a body of up to maxListing bytes
)

// Config has the parts of the coordinator that the API serves.
type Config struct {
	Conn    space.Conn // a session for the API only, which is never lost
	Catalog catalog.Catalog
	// Visits is the coordinator's schedule of visits to the origins of Catalog, of the same
	// database.
	Visits *visits.Store
	Health func() error // of the database of Catalog and Visits, for readyz; nil: it is not checked
	// Index is the code index; nil: there is none.
	Index CodeIndex
	// Hub serves the callbacks of hubs, below /hub/; nil: they are not found.
	Hub http.Handler
	// Page serves / and every other path outside /api; nil: they are not found.
	Page http.Handler
	// Prefix is the path below which a proxy serves all, such as /leasehold; empty: none. Requests may come with it or
	// without it.
	Prefix string
	// Connections is how many connections the API has at most, 0: maxConnections. Requests that wait take at most two
	// fifths of them, and heartbeats of workers as many, so that the requests of managers find one.
	Connections int
	// Hosts are the names that clients may use for the coordinator, besides addresses,
	// localhost and names without a dot, such as a container's. "*" allows every name.
	Hosts []string
	// Backup copies the coordinator's data to a folder that does not exist; nil: backups
	// are refused.
	Backup func(ctx context.Context, path string) error
	// Database returns the result of the latest check of the database; nil: there are none.
	Database func() types.DatabaseCheck
	// Engine reports its health, its figures and its sessions; nil: they are left out, and no
	// session is ended and no space deleted.
	Engine Engine
	Spaces *peer.Spaces // counts the spaces that peers create; nil: those over the API only
	// Durations are exposed by /metrics.
	Durations []Durations
	// Actions has the figures of actions, which the page and others share; nil: the API has some of its own, without
	// rates and durations.
	Actions *actions.Source
	// MaxTTL bounds the TTL of sessions; 0: one minute.
	MaxTTL time.Duration
	Exempt []netip.Prefix // networks whose machines have no quotas (package peer)
	// Auth authenticates clients; nil: every client may do everything, and no process joins. JoinAddresses returns the
	// addresses of the gate in join lines, and of the gates of the other members of the realm.
	Auth          *auth.Auth
	JoinAddresses func(context.Context) ([]string, error)
	// Members returns the coordinators that serve the realm in turn, by name; nil: this one works alone.
	Members func(context.Context) ([]types.Member, error)
	// Realm returns how this coordinator keeps its realm; nil: it works alone.
	Realm func() types.Realm
	// FinishUpgrade raises the format of the realm to the newest one that its members read, and returns it; nil: this
	// one works alone. It fails with fault.ErrConflict if some member does not read it.
	FinishUpgrade func(context.Context) (int, error)
	// SignIn writes the page that asks for a token, with what was wrong with the last one; nil: none. SessionsOf
	// returns the sessions of an identity at the native gate; nil: there are none.
	SignIn     func(w http.ResponseWriter, status int, problem string)
	SessionsOf func(identity string) []string
	// Identify returns the identity that makes a request; the zero Identity if the request shows none. Its error is
	// fault.ErrUnauthenticated. nil: that of Auth.
	Identify func(*http.Request) (access.Identity, error)
	// Attention is what needs attention; nil: nothing does.
	Attention Attention
	// History has the counts of tasks by minute; nil: it is not found.
	History History
	// Acks repeats the ends of gets and of claims that the spaces refuse for now, as with a full disk. Its Run must last
	// until all requests have ended. nil: they are not repeated.
	Acks   *retry.Later
	Spans  *tracing.Spans // of requests that change something; nil: none
	Memory *memory.Budget // counts the bodies of requests; nil: no limit
	Log    *slog.Logger   // nil: slog.Default
}

// Durations is a histogram with the name, the help and the labels (pairs of name and value) of
// its metric.
type Durations struct {
	Name, Help string
	Labels     []string
	*histogram.Histogram
}

// Engine is the administrators' part of the space engine: an engine.Engine.
type Engine interface {
	Health() error              // nil unless the engine refuses some requests
	Filled() []engine.SpaceFill // spaces that take only the fleet's own work
	Stats() engine.Stats
	Sessions() []engine.SessionInfo
	EndSession(ctx context.Context, id string) error
	DeleteSpace(ctx context.Context, name string, force bool) (removed int, err error)
	OpenGateSession(ctx context.Context, o engine.Opening) (engine.GateSession, error)
}

// server is the API over one repository and one catalog.
type server struct {
	Config
	repo    space.Repository // over Conn
	gets    atomic.Uint64    // number of gets so far; the sequence number of the next is one more
	browse  browse.Client
	tasks   task.Client
	holds   hold.Client
	metrics *metrics
	// Each channel holds one token for each request in progress. Managers' calls have slots
	// of their own, so that other clients cannot stop the fleet.
	slots, fleetSlots chan struct{}
	waitSlots         chan struct{} // of requests that may wait for a task
	waitPeers         *peer.Quota   // of waitSlots
	beatSlots         chan struct{} // of heartbeats of workers
	beatPeers         *peer.Quota   // of beatSlots
	listings          chan struct{} // bulk requests
	scrapes           chan struct{} // of metrics
	peers             *peer.Quota   // of slots
	// Of bodies that are read or handled.
	bodies, fleetBodies budget
	answers             budget // that wait for their readers

	workers workers
	inUse   inUse

	checking sync.Mutex // guards check
	check    *check     // of readiness, that runs now
}

// New returns the handler of the API and the page. It starts nothing.
func New(c Config) http.Handler {
	s := newServer(c)
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for _, r := range s.routes() {
		mux.Handle(r.method+" "+r.path, s.serve(r))
		methods[r.path] = append(methods[r.path], r.method)
	}
	for path, allowed := range methods {
		mux.Handle(path, refuseMethod(allowed))
	}
	mux.HandleFunc("/api/", notFound)
	for path, h := range map[string]http.HandlerFunc{"/healthz": s.healthz, "/readyz": s.readyz, "/metrics": s.serveMetrics} {
		need := access.Public
		if path == "/metrics" {
			need = access.Reader
		}
		mux.Handle("GET "+path, s.metrics.measure(path, s.needing(path[1:], need, h)))
		mux.Handle(path, refuseMethod([]string{http.MethodGet}))
	}
	if c.Hub != nil {
		mux.Handle(hub.Path, s.metrics.measure(hub.Path, c.Hub))
	}
	if c.Page != nil {
		mux.Handle("/", s.metrics.measure("/", s.signedIn(c.Page)))
		mux.Handle("/assets/", s.metrics.measure("/", c.Page))
	}
	if c.Auth != nil {
		mux.Handle("POST /sign-in", s.metrics.measure("/", http.HandlerFunc(s.signIn)))
		mux.Handle("POST /sign-out", s.metrics.measure("/", http.HandlerFunc(s.signOut)))
		c.Auth.OnRevoke(s.endIdentity)
	}
	return s.guard(withoutPrefix(c.Prefix, mux))
}

// withoutPrefix takes the prefix from the paths that have it, because a proxy may leave it or strip it.
func withoutPrefix(prefix string, next http.Handler) http.Handler {
	if prefix == "" {
		return next
	}
	stripped := http.StripPrefix(prefix, next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == prefix:
			http.Redirect(w, r, prefix+"/", http.StatusPermanentRedirect)
		case strings.HasPrefix(r.URL.Path, prefix+"/"):
			stripped.ServeHTTP(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// newServer returns the API with its slots and quotas, and the defaults of c.
func newServer(c Config) *server {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Spaces == nil {
		c.Spaces = peer.NewSpaces()
	}
	if c.Identify == nil && c.Auth != nil {
		c.Identify = c.Auth.OfRequest
	}
	if c.Actions == nil {
		c.Actions = actions.NewSource(space.Over(c.Conn), nil)
	}
	longCalls := max(1, cmp.Or(c.Connections, maxConnections)*2/5)
	repo := space.Over(c.Conn)
	return &server{
		Config: c, repo: repo, browse: browse.Client{Repo: repo}, tasks: task.Client{Repo: repo}, holds: hold.Client{Repo: repo},
		inUse: inUse{open: map[string]map[*context.CancelCauseFunc]bool{}}, metrics: newMetrics(), peers: peer.NewQuota("requests at a time", peerRequests), slots: make(chan struct{}, MaxInFlight), fleetSlots: make(chan struct{}, MaxInFlight),
		waitSlots: make(chan struct{}, min(maxWaiting, longCalls)), waitPeers: peer.NewQuota("requests that wait", peerWaiting),
		beatSlots: make(chan struct{}, min(maxWaiting, longCalls)), beatPeers: peer.NewQuota("heartbeats", peerBeats),
		workers:  workers{peers: peer.NewQuota("sessions over HTTP", peerSessions), open: map[string]*worker{}},
		listings: make(chan struct{}, maxListings), scrapes: make(chan struct{}, maxScrapes), bodies: budget{max: maxBodies, memory: c.Memory, class: memory.Growth},
		answers:     budget{max: maxAnswers, memory: c.Memory, class: memory.Draining},
		fleetBodies: budget{max: maxFleetBodies, memory: c.Memory, class: memory.Draining},
	}
}
