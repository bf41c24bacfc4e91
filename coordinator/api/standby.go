package api

import (
	"fmt"
	"log/slog"
	"net/http"

	"leasehold/shared/fault"
	"leasehold/shared/process/exposition"
)

// Standby is what a coordinator that waits to take over its realm answers over HTTP.
type Standby struct {
	// Owner returns the URL of the coordinator that serves, without a slash at its end; empty: it is unknown.
	Owner  func() string
	Hosts  []string // as in Config
	Prefix string   // of the page, as in Config
	Log    *slog.Logger
}

const standbyHelp = "This is 1 while the coordinator waits to take over its realm, and 0 while it serves."

// NewStandby returns the handler of a coordinator that stands by: healthz and readyz are green, because an orchestrator
// must not restart it, and metrics tell that it stands by. The page's addresses lead to the coordinator that serves.
// Every other request is refused with 503, and names that coordinator; the connection ends, so that the client's next one
// may be to another member.
func NewStandby(c Standby) http.Handler {
	s := &server{Config: Config{Hosts: c.Hosts, Log: c.Log}, metrics: newMetrics()}
	registry := exposition.NewRegistry()
	registry.MustRegister(exposition.Collector(func(to exposition.Sink) {
		to.BuildInfo()
		to.Gauge("leasehold_standby", standbyHelp, 1)
	}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.healthz)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprintln(w, "standby")
	})
	mux.Handle("GET /metrics", exposition.Handler(registry))
	mux.HandleFunc("/", c.refuse)
	mux.HandleFunc("GET /{$}", c.redirect)
	for _, path := range []string{"GET /{page}", "GET /{page}/{rest...}"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if page := r.PathValue("page"); page == "api" || page == "hub" || page == "assets" {
				c.refuse(w, r)
				return
			}
			c.redirect(w, r)
		})
	}
	return s.guard(withoutPrefix(c.Prefix, mux))
}

// refuse answers a request that only the coordinator that serves can carry out.
func (c Standby) refuse(w http.ResponseWriter, _ *http.Request) {
	owner := c.Owner()
	p := problemOf(fault.Of(fault.ErrUnavailable), "this coordinator stands by, and it does not know which one serves; repeat the request")
	if owner != "" {
		p.Detail, p.Owner = fmt.Sprintf("this coordinator stands by: %s serves", owner), owner
	}
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Connection", "close")
	sendProblem(w, p)
}

// redirect leads a browser to the same page of the coordinator that serves.
func (c Standby) redirect(w http.ResponseWriter, r *http.Request) {
	owner := c.Owner()
	if owner == "" {
		c.refuse(w, r)
		return
	}
	http.Redirect(w, r, owner+c.Prefix+r.URL.RequestURI(), http.StatusTemporaryRedirect)
}
