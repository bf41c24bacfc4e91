package api

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"leasehold/coordinator/visit/store"
	"leasehold/shared/browse"
	"leasehold/shared/catalog"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/task"
)

// Bounds of what is asked and answered.
const (
	MaxBody     = 1 << 20  // bytes of a request
	MaxListing  = 64 << 20 // bytes of what a manager curates: as large as a feed may be
	MaxPage     = 10_000   // items of a list
	MaxTuples   = 1_000    // tuples of a list, which may be large
	MaxWait     = 25 * time.Second
	MaxInFlight = 256 // requests, beside health, metrics and the page
	maxListings = 4   // of these, requests that may carry MaxListing bytes

	callTimeout = 30 * time.Second // of one request, from its first byte to its last
	bulkTimeout = 5 * time.Minute  // of one that may carry MaxListing bytes
)

// Config says what the API serves.
type Config struct {
	Conn    space.Conn // a session of its own, that is never lost
	Catalog catalog.Catalog
	// Visits is when origins are visited: a coordinator's, and that of Catalog
	// (coordinator.Scheduled).
	Visits *store.Store
	// Page serves / and all that is not below /api; nil: nothing does.
	Page http.Handler
	// Hosts are names under which clients may call, beside addresses, localhost
	// and names without a dot, such as a container's. "*" allows every name.
	Hosts []string
	// Backup copies what the coordinator keeps to a folder that does not exist;
	// nil: it makes no backups.
	Backup func(ctx context.Context, path string) error
	// Engine is asked how it does, for health and metrics; nil: nobody is.
	Engine Engine
	Log    *slog.Logger // nil: slog.Default
}

// Engine says how the engine behind the spaces does.
type Engine interface {
	Health() error // what keeps it from doing all that it is for
	Stats() engine.Stats
}

// server is the API over one repository and one catalog.
type server struct {
	Config
	repo     space.Repository // over Conn
	taken    atomic.Uint64    // the number of the get that was begun last
	browse   browse.Client
	tasks    task.Client
	metrics  *metrics
	inFlight chan struct{} // holds one token for each request under way
	listings chan struct{}
}

// New returns the handler of everything. It starts nothing.
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
		mux.Handle(path, s.metrics.count(path, h))
	}
	if c.Page != nil {
		mux.Handle("/", s.metrics.count("/", c.Page))
	}
	return s.guard(mux)
}

func newServer(c Config) *server {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	repo := space.Over(c.Conn)
	return &server{
		Config: c, repo: repo, browse: browse.Client{Repo: repo}, tasks: task.Client{Repo: repo},
		metrics: newMetrics(), inFlight: make(chan struct{}, MaxInFlight), listings: make(chan struct{}, maxListings),
	}
}

// A route answers one method on one path below /api/v1.
type route struct {
	method, path string
	answer       func(context.Context, *http.Request) (any, error)
	bulk         bool // it may take long, and its body be MaxListing bytes
}

// A reply is an answer with a status of its own, or in another form than JSON.
type reply struct {
	status   int
	location string
	media    string             // of raw
	raw      []byte             // instead of body
	body     any                // nil: none
	settle   func(arrived bool) // what to do once it is written, or cannot be; nil: nothing
}

// routes lists them all.
func (s *server) routes() []route {
	const v1 = "/api/v1"
	return []route{
		{"GET", v1 + "/openapi.yaml", s.openAPI, false},
		{"GET", v1 + "/origins", s.listOrigins, false},
		{"POST", v1 + "/origins", s.addOrigin, false},
		{"GET", v1 + "/origins/{origin}", s.getOrigin, false},
		{"PATCH", v1 + "/origins/{origin}", s.patchOrigin, false},
		{"DELETE", v1 + "/origins/{origin}", s.removeOrigin, false},
		{"GET", v1 + "/visits", s.listVisits, false},
		{"POST", v1 + "/visits", s.addVisit, false},
		{"GET", v1 + "/visits/next", s.nextVisits, false},
		{"POST", v1 + "/visits/outcomes", s.putOutcome, false},
		{"GET", v1 + "/origins/{origin}/schedule", s.getSchedule, false},
		{"POST", v1 + "/origins/{origin}/schedule", s.steer, false},
		{"GET", v1 + "/listers", s.listListers, false},
		{"POST", v1 + "/listers", s.addLister, false},
		{"GET", v1 + "/episodes", s.listEpisodes, false},
		{"PUT", v1 + "/episodes", s.putEpisodes, false},
		{"GET", v1 + "/episodes/{episode}", s.getEpisode, false},
		{"PATCH", v1 + "/episodes/{episode}", s.patchEpisode, false},
		{"GET", v1 + "/clips", s.listClips, false},
		{"PUT", v1 + "/clips", s.putClips, false},
		{"GET", v1 + "/clips/{clip}", s.getClip, false},
		{"PATCH", v1 + "/clips/{clip}", s.patchClip, false},
		{"GET", v1 + "/findings", s.listFindings, false},
		{"GET", v1 + "/problems", s.listProblems, false},
		{"GET", v1 + "/totals", s.getTotals, false},
		{"GET", v1 + "/status", s.listSessions, false},
		{"GET", v1 + "/costs", s.listCosts, false},
		{"POST", v1 + "/sessions/{session}/drain", s.drainSession, false},
		{"GET", v1 + "/spaces", s.listSpaces, false},
		{"GET", v1 + "/spaces/{space}", s.getSpace, false},
		{"GET", v1 + "/spaces/{space}/tuples", s.listTuples, false},
		{"POST", v1 + "/spaces/{space}/put", s.putTuple, false},
		{"POST", v1 + "/spaces/{space}/get", s.getTuple, false},
		{"POST", v1 + "/spaces/{space}/query", s.queryTuple, false},
		{"POST", v1 + "/backups", s.makeBackup, true},
		{"GET", v1 + "/tasks", s.listTasks, false},
		{"POST", v1 + "/tasks", s.createTask, false},
		{"GET", v1 + "/tasks/{task}", s.getTask, false},
		{"GET", v1 + "/dead", s.listDead, false},
		{"GET", v1 + "/dead/{task}", s.getDead, false},
		{"POST", v1 + "/dead/{task}/requeue", s.requeue, false},
		{"POST", v1 + "/catalog/origins", s.catalogOrigin, false},
		{"POST", v1 + "/catalog/outcomes", s.catalogOutcome, false},
		{"POST", v1 + "/catalog/curate", s.catalogCurate, true},
		{"POST", v1 + "/catalog/select", s.catalogSelect, true},
		{"POST", v1 + "/catalog/ingest", s.catalogIngest, false},
		{"POST", v1 + "/catalog/lift", s.catalogLift, false},
	}
}
