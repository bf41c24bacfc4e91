package page

import (
	"bytes"
	"embed"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"time"

	"leasehold/tup4fun/explore"
)

//go:embed page.html assets
var files embed.FS

var page = template.Must(template.ParseFS(files, "page.html"))

// MaxRequest is how many bytes a request may have.
const MaxRequest = 256 << 10

// waiting is how many requests may wait for those that are worked on.
const waiting = 16

// Limits bound what one request may take.
type Limits struct {
	States  int64         // 0: 200,000
	Memory  int64         // bytes; 0: 256 MiB
	Time    time.Duration // 0: ten seconds
	AtOnce  int           // requests that are worked on; 0: two
	Drawn   int           // states in a drawing; 0: 150
	Choices int           // steps of a run that is chosen; 0: 1000
}

func (l Limits) normal() Limits {
	usual := Limits{200_000, 256 << 20, 10 * time.Second, 2, 150, 1000}
	if l.States <= 0 {
		l.States = usual.States
	}
	if l.Memory <= 0 {
		l.Memory = usual.Memory
	}
	if l.Time <= 0 {
		l.Time = usual.Time
	}
	if l.AtOnce <= 0 {
		l.AtOnce = usual.AtOnce
	}
	if l.Drawn <= 0 {
		l.Drawn = usual.Drawn
	}
	if l.Choices <= 0 {
		l.Choices = usual.Choices
	}
	return l
}

func (l Limits) options() explore.Options {
	return explore.Options{Reduction: explore.FullReduction, States: l.States, Memory: l.Memory, Time: l.Time}
}

// Page is the handler. It starts nothing, and may be used concurrently.
type Page struct {
	limits Limits
	mux    *http.ServeMux
	room   chan struct{} // as many as are worked on
	queue  chan struct{} // as many as are there at all
	html   []byte
}

// New returns the page. The error is that of its template.
func New(l Limits) (*Page, error) {
	p := &Page{limits: l.normal(), mux: http.NewServeMux()}
	p.room, p.queue = make(chan struct{}, p.limits.AtOnce), make(chan struct{}, p.limits.AtOnce+waiting)
	var b bytes.Buffer
	if err := page.Execute(&b, struct {
		Limits
		Example example
	}{p.limits, philosophers}); err != nil {
		return nil, err
	}
	p.html = b.Bytes()
	p.mux.HandleFunc("GET /{$}", p.whole)
	p.mux.Handle("GET /assets/", http.FileServerFS(files))
	for path, answer := range map[string]answerer{"/graph": p.graph, "/run": p.run, "/states": p.states, "/check": p.check} {
		p.mux.Handle("POST "+path, p.answer(answer))
	}
	return p, nil
}

// An example is what stands in the boxes at first.
type example struct{ Init, Program string }

var philosophers = example{
	"Fork = (R, 2, {(1), (2)})",
	`par
   loop true ->
      Fork.get(1); Fork.get(2);
      Fork.put(1); Fork.put(2)
   pool
[]
   loop true ->
      Fork.get(2); Fork.get(1);
      Fork.put(2); Fork.put(1)
   pool
rap
`,
}

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !loopback(r.Host) {
		http.Error(w, "This page is for this machine only: call it 127.0.0.1 or localhost.", http.StatusForbidden)
		return
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		http.Error(w, "This page answers only itself.", http.StatusForbidden)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// loopback reports whether a Host header names this machine, so that no name of
// elsewhere that resolves to here is taken for it.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (p *Page) whole(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(p.html) // whoever is gone needs it no more
}
