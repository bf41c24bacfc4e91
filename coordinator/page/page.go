package page

import (
	"embed"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"leasehold/models"
	"leasehold/shared/process/wording"
	"leasehold/shared/space"
)

//go:embed templates assets
var files embed.FS

// Config has the sources of the page.
type Config struct {
	// API is the coordinator's API, which answers and acts for each visitor.
	API  http.Handler
	Repo space.Repository // has the log
	Code Code             // nil: without code search
	// Sound plays episodes; nil: they are not played.
	Sound Sound
	// Lost lists the sessions that were lost lately, the latest first; nil: none are known.
	Lost func() []models.LostSession
	// Actions offers actions to visitors whose role allows them; without it, the page only shows.
	Actions bool
	// Prefix is the path below which a proxy serves the page, such as /leasehold; empty: none. Requests may come with it
	// or without it.
	Prefix string
	Log    *slog.Logger // nil: slog.Default
	// WriteTimeout is the timeout of each write to a visitor; 0 is ten seconds.
	WriteTimeout time.Duration
}

// Page is the handler. It starts nothing.
type Page struct {
	Config
	mux       *http.ServeMux
	templates *template.Template
	cache     cache
	visitors  atomic.Int64

	searching chan struct{} // has an element for each request of code search
}

// New returns the page. It starts nothing; views are rendered during requests.
func New(c Config) *Page {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.WriteTimeout == 0 {
		c.WriteTimeout = 10 * time.Second
	}
	p := &Page{Config: c, mux: http.NewServeMux(), searching: make(chan struct{}, codeAtOnce)}
	p.cache.forget()
	p.templates = template.Must(template.New("").Funcs(p.functions()).ParseFS(files, "templates/*.html"))
	p.mux.Handle("GET /assets/", http.FileServerFS(files))
	p.mux.HandleFunc("GET /events", p.events)
	p.mux.HandleFunc("POST /do", p.act)
	for _, x := range exports {
		p.mux.HandleFunc("GET /archive/episodes/{episode}/"+x.file, p.serveExport(x))
	}
	if c.Sound != nil {
		p.mux.HandleFunc("GET /archive/episodes/{episode}/sound", p.listen)
	}
	for _, v := range views {
		p.mux.HandleFunc("GET "+v.pattern, p.serveView(v))
	}
	if c.Code != nil {
		p.addCode()
	}
	return p
}

// functions are what templates call.
func (p *Page) functions() template.FuncMap {
	return template.FuncMap{
		"withoutKind": wording.WithoutKind, "link": p.link, "n": number, "count": count, "seconds": seconds, "secs": func(s *models.Seconds) string { return duration(s.Duration()) },
		"ago":      func(t, now time.Time) template.HTML { return timeElement("ago", t, now) },
		"clock":    func(t, now time.Time) template.HTML { return timeElement("at", t, now) },
		"progress": progress, "length": length, "short": short, "join": strings.Join,
		"include": p.include, "n64": func(n int) string { return number(int64(n)) }, "count64": func(n int, noun string) string { return count(int64(n), noun) }, "dict": dict,
		"add": func(a, b int) int { return a + b },
	}
}

// dict returns the values of a template by name, from pairs of name and value.
func dict(pairs ...any) map[string]any {
	all := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		all[pairs[i].(string)] = pairs[i+1]
	}
	return all
}

// include renders a template whose name is known only when the page is read.
func (p *Page) include(name string, data any) (template.HTML, error) {
	var b strings.Builder
	err := p.templates.ExecuteTemplate(&b, name, data)
	return template.HTML(b.String()), err
}

// contentPolicy lets the page load its own files only.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; media-src 'self'; " +
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
	h.Set("Referrer-Policy", "same-origin") // no-referrer would have browsers hide the origin of forms
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}
