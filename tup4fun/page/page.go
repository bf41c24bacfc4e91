package page

import (
	"bytes"
	"cmp"
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

// MaxRequest bounds the bytes of a request.
const MaxRequest = 256 << 10

// maxWaiting bounds the requests that wait for a slot.
const maxWaiting = 16

// Limits bound the resources of one request.
type Limits struct {
	States  int64         // 0: 200,000
	Memory  int64         // bytes; 0: 256 MiB
	Time    time.Duration // 0: 10 s
	AtOnce  int           // requests processed concurrently; 0: 2
	Drawn   int           // states in a drawing; 0: 150
	Choices int           // steps of a chosen run; 0: 1000
}

// withDefaults returns l with the default in place of each limit of 0 or less.
func (l Limits) withDefaults() Limits {
	return Limits{
		States:  cmp.Or(max(l.States, 0), 200_000),
		Memory:  cmp.Or(max(l.Memory, 0), 256<<20),
		Time:    cmp.Or(max(l.Time, 0), 10*time.Second),
		AtOnce:  cmp.Or(max(l.AtOnce, 0), 2),
		Drawn:   cmp.Or(max(l.Drawn, 0), 150),
		Choices: cmp.Or(max(l.Choices, 0), 1000),
	}
}

func (l Limits) options() explore.Options {
	return explore.Options{Reduction: explore.FullReduction, States: l.States, Memory: l.Memory, Time: l.Time}
}

// Page is the handler. It starts no goroutines and is safe for concurrent use.
type Page struct {
	limits Limits
	mux    *http.ServeMux
	slots  chan struct{} // one per request being processed
	queue  chan struct{} // one per request being processed or waiting
	html   []byte
}

// New returns the page, or an error in its template, which a test of the package would find.
// Limits that are 0 get their defaults. Slots bound the programs that are explored at once, and
// the queue those that are explored or wait.
func New(l Limits) (*Page, error) {
	p := &Page{limits: l.withDefaults(), mux: http.NewServeMux()}
	p.slots, p.queue = make(chan struct{}, p.limits.AtOnce), make(chan struct{}, p.limits.AtOnce+maxWaiting)
	var b bytes.Buffer
	if err := page.Execute(&b, struct {
		Limits
		Example example
	}{p.limits, philosophers}); err != nil {
		return nil, err
	}
	p.html = b.Bytes()
	p.mux.HandleFunc("GET /{$}", p.index)
	p.mux.Handle("GET /assets/", http.FileServerFS(files))
	for path, answer := range map[string]viewFunc{"/graph": p.graph, "/run": p.run, "/states": p.states, "/check": p.check} {
		p.mux.Handle("POST "+path, p.handler(answer))
	}
	return p, nil
}

// example is the initial content of the boxes.
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

// ServeHTTP answers requests for a loopback host from the page itself, and refuses others with
// 403, so that pages of other sites cannot use the browser of the visitor to ask.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !loopback(r.Host) {
		http.Error(w, "This page is for this machine only: use the host 127.0.0.1 or localhost.", http.StatusForbidden)
		return
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		http.Error(w, "Only requests from the page itself are answered.", http.StatusForbidden)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// loopback reports whether a Host header names this machine. Other names that resolve to
// a loopback address are refused, because of DNS rebinding.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (p *Page) index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(p.html) // an error means that the client is gone
}
