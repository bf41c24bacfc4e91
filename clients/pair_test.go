package clients

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// pair is two addresses of one coordinator: it serves at one of them, and the other one refuses as a coordinator that
// stands by.
type pair struct {
	t       *testing.T
	servers [2]*httptest.Server
	stray   *httptest.Server // of none of them

	mu      sync.Mutex // guards the fields below
	serving int
	era     context.Context // ends at the next change
	end     context.CancelFunc
	full    bool   // the one that serves refuses too
	owner   string // the URL that the other one tells; empty: the one that serves
	refused int    // requests since the latest reset
	strayed int    // requests to stray
}

// newPair starts one before a coordinator. It ends with the test.
func newPair(t *testing.T, c *coordinator) *pair {
	t.Helper()
	p := &pair{t: t, serving: 1}
	p.era, p.end = context.WithCancel(context.Background())
	t.Cleanup(func() { p.end() })
	target := &url.URL{Scheme: "http", Host: c.api}
	through := httputil.NewSingleHostReverseProxy(target)
	through.ErrorLog = discarded
	through.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) } // as a coordinator that died
	for i := range p.servers {
		p.servers[i] = start(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // a worker breaks its claim off
			r.Body, r.Host = io.NopCloser(bytes.NewReader(body)), target.Host
			switch owner, refuses := p.refuses(i); {
			case !refuses:
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				defer p.breakOff(r, cancel)()
				through.ServeHTTP(w, r.WithContext(ctx))
			case owner == "":
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprint(w, `{"title":"unavailable","status":503,"code":"unavailable","detail":"the disk is full"}`)
			default:
				refuseAsStandby(w, owner)
			}
		})
	}
	p.stray = start(t, func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.strayed++
		w.WriteHeader(http.StatusForbidden)
	})
	return p
}

func start(t *testing.T, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = discarded
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// refuseAsStandby answers as a coordinator that stands by (coordinator/api, NewStandby).
func refuseAsStandby(w http.ResponseWriter, owner string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Connection", "close")
	w.WriteHeader(http.StatusServiceUnavailable)
	fmt.Fprintf(w, `{"type":"urn:leasehold:problem:unavailable","title":"unavailable","status":503,"code":"unavailable","detail":"this coordinator stands by: %s serves","owner":%q}`, owner, owner)
}

// refuses reports whether a server refuses a request, and which owner it tells if it stands by.
func (p *pair) refuses(i int) (owner string, refuses bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i == p.serving {
		return "", p.full
	}
	p.refused++
	if p.owner != "" {
		return p.owner, true
	}
	return p.servers[p.serving].URL, true
}

// urls returns the addresses as a client gets them, the one that stands by at first before the other one.
func (p *pair) urls() string { return p.servers[0].URL + "," + p.servers[1].URL }

// reset has the second one serve.
func (p *pair) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.serving, p.full, p.owner, p.refused = 1, false, "", 0
}

// do does the step roles.
func (p *pair) do(what string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.serving
	switch what {
	case "change":
		p.serving = 1 - was
		p.end()
		p.era, p.end = context.WithCancel(context.Background())
	case "refuse", "serve":
		p.full = what == "refuse"
	case "stray":
		p.owner = p.stray.URL
	default:
		require.Fail(p.t, "roles: "+what)
	}
}

// breakOff has the next change cancel a request. A claim is answered nevertheless, because the coordinator behind both
// addresses lives: it would hand back what it could not answer, while the other address repeats the answer.
func (p *pair) breakOff(r *http.Request, cancel func()) (forget func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/claims") {
		return func() bool { return true }
	}
	return context.AfterFunc(p.era, cancel)
}

// refusals returns how many requests the one that stands by refused since the latest reset.
func (p *pair) refusals() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// strays returns how many requests came to another server than the two.
func (p *pair) strays() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strayed
}

// onceOnly fails unless each task was started once, and has ended in its first attempt.
func (b *bench) onceOnly(at string, tasks []any) {
	b.Helper()
	for _, task := range tasks {
		id := task.(map[string]any)["id"].(string)
		require.Equal(b, 1, b.driver.count("started", id), "step %s: task %s started", at, id)
		ended, err := b.api.Task(b.Context(), id)
		require.NoError(b, err)
		require.Equal(b, "resolved 0", fmt.Sprint(ended.State, " ", ended.Attempts), "step %s: task %s", at, id)
	}
}
