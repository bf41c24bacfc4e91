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

//go:embed page.html assets examples
var files embed.FS

var page = template.Must(template.ParseFS(files, "page.html"))

// MaxRequest bounds the bytes of a request with a program or a net: 256 KiB of text, and what JSON adds
// to its line ends.
const MaxRequest = 512 << 10

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
		MaxTrace int
	}{p.limits, MaxTrace}); err != nil {
		return nil, err
	}
	examples, err := loadExamples()
	if err != nil {
		return nil, err
	}
	p.mux.Handle("GET /{$}", content("text/html; charset=utf-8", b.Bytes()))
	p.mux.Handle("GET /examples", content("application/json", examples))
	p.mux.Handle("GET /assets/", http.FileServerFS(files))
	for path, answer := range map[string]answerFunc{
		"graph": p.ofProgram(p.graph), "run": p.ofProgram(p.run), "states": p.ofProgram(p.states), "check": p.ofProgram(p.check),
		"format": p.ofSession(p.format), "petri": p.petri,
	} {
		p.mux.Handle("POST /"+path, p.handler("application/json", MaxRequest, answer))
	}
	p.mux.Handle("POST /conform", p.handler("application/x-ndjson", MaxTrace, p.conformance))
	return p, nil
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

// content returns a handler that answers with a text of a type.
func content(kind string, text []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text) // an error means that the client is gone
	}
}
