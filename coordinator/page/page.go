package page

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"leasehold/coordinator/visits"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/process/wording"
	"leasehold/shared/space"
)

//go:embed page.html code.html signin.html assets
var files embed.FS

// page has the template of the page, and one for each section.
var page = template.Must(template.New("page.html").Funcs(template.FuncMap{"withoutKind": wording.WithoutKind}).ParseFS(files, "page.html"))

// sections are the parts of the page that change, from top to bottom.
var sections = []string{"status", "spaces", "schedules", "attention", "findings"}

// Config has the sources of the page.
type Config struct {
	Repo    space.Repository
	Catalog catalog.Catalog
	Code    Code         // nil: without code search
	Visits  Visits       // nil: nothing of visits is shown
	Health  func() error // of the catalog's database; nil: it is not shown
	Log     *slog.Logger // nil: slog.Default
	// Insecure has the page tell that nothing authenticates its visitors, and SignOut offer them to sign out.
	Insecure, SignOut bool
	// WriteTimeout is the timeout of each write to a visitor; 0 is ten seconds.
	WriteTimeout time.Duration
}

// Visits is the schedule of visits. *visits.Store implements it.
type Visits interface {
	// Facts returns counters since the store was made.
	Facts(ctx context.Context) (visits.Facts, error)
}

// Page is the handler. It starts nothing.
type Page struct {
	Config
	mux      *http.ServeMux
	cache    cache
	visitors atomic.Int64

	searching chan struct{} // has an element for each request of code search
}

// New returns the page. It starts nothing; snapshots are collected during requests.
func New(c Config) *Page {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 10 * time.Second
	}
	p := &Page{Config: c, mux: http.NewServeMux(), searching: make(chan struct{}, codeAtOnce)}
	p.cache.collect = p.collect
	p.mux.Handle("GET /assets/", http.FileServerFS(files))
	p.mux.HandleFunc("GET /events", p.events)
	p.mux.HandleFunc("GET /{$}", p.servePage)
	if c.Code != nil {
		p.mux.HandleFunc("GET /code", p.limitCode(p.searchCode))
		p.mux.HandleFunc("GET /code/file", p.limitCode(p.showCode))
	}
	return p
}

// contentPolicy lets the page load its own files only.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// ServeHTTP serves the page, its files, and its events, with headers that forbid scripts and frames
// of other sites. An answer must be written within WriteTimeout; each event extends that (events).
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(p.WriteTimeout)) // a test's recorder has none
	p.mux.ServeHTTP(w, r)
}

// setHeaders forbids scripts and frames of other sites.
func setHeaders(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// servePage serves the page with the latest snapshot.
func (p *Page) servePage(w http.ResponseWriter, r *http.Request) {
	s, err := p.cache.get(r.Context())
	if err != nil {
		p.Log.Error("dashboard: no snapshot", "error", err)
		http.Error(w, "The coordinator cannot read its state. See its log.", http.StatusServiceUnavailable)
		return
	}
	var b bytes.Buffer
	if err := page.Execute(&b, s); err != nil {
		p.Log.Error("dashboard: render", "error", err)
		http.Error(w, "The page cannot be rendered. See the coordinator's log.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, models.Redact(b.String())) // the visitor may be gone
}
