package clients

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A disturbance is a fault between a client and the coordinator, as a case defines it. It is about connections (cut or slow), or
// about the requests that on, has and same_key select.
type disturbance struct {
	Cut  *cut
	Slow *struct {
		Bytes   int // that arrive at once
		PauseMS int `yaml:"pause_ms"`
	}

	On      string // METHOD and the end of the path
	Has     string // in the body
	Without string // in the body
	SameKey bool   `yaml:"same_key"` // only the first request that is selected and those that repeat it
	After   int    // so many requests pass first
	Times   int    // so many requests are disturbed; 0: all

	Status     int    // the answer, without the coordinator
	Body       string // of it
	Hold       bool   // the request waits until the next step network, and is sent then
	HoldAnswer bool   `yaml:"hold_answer"` // the coordinator gets the request, and its answer waits
	LoseAnswer bool   `yaml:"lose_answer"` // the coordinator gets the request, and the connection is closed
	Later      bool   // all answers are as of a later version

	seen int
	key  string
}

// cut closes the connection that has carried the byte after so many, once.
type cut struct {
	Of    string // request or answer
	After int
}

// network is between one client and the coordinator: addresses that stand for those of the API and of the gate.
type network struct {
	api, gate string

	mu       sync.Mutex // guards the fields below
	now      []*disturbance
	passed   map[string]int // bytes by direction, since the last change
	cutDone  bool
	released chan struct{} // closed by the next change
	conns    map[net.Conn]bool

	requests requests // that were accepted
}

// newNetwork starts one before a coordinator, which ends with the test.
func newNetwork(t *testing.T, c *coordinator) *network {
	t.Helper()
	n := &network{released: make(chan struct{}), passed: map[string]int{}, conns: map[net.Conn]bool{}, requests: requests{all: map[string]map[string]bool{}}}
	target := &url.URL{Scheme: "http", Host: c.api}
	through := httputil.NewSingleHostReverseProxy(target)
	through.ErrorLog = discarded
	through.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) } // as a coordinator that is away
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a worker breaks its claim off
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.Host = target.Host // the coordinator refuses unknown hosts
		n.serve(w, r, string(body), n.noting(through, string(body)))
	}))
	proxy.Config.ErrorLog = discarded
	proxy.Start()
	n.api = "http://" + n.listen(t, proxy.Listener.Addr().String())
	n.gate = n.listen(t, c.gate)
	t.Cleanup(func() {
		n.change(nil)
		n.closeAll()
		proxy.CloseClientConnections()
		proxy.Close()
	})
	return n
}

// change replaces the disturbances, and lets held requests go.
func (n *network) change(to []*disturbance) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.released)
	n.now = nil
	for _, d := range to { // the clients share the cases
		own := *d
		n.now = append(n.now, &own)
	}
	n.released, n.passed, n.cutDone = make(chan struct{}), map[string]int{}, false
}

func (n *network) hasCut() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cutDone
}

func (n *network) closeAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		_ = c.Close() // twice, if its peer has closed it
	}
}

// serve is the proxy for requests.
func (n *network) serve(w http.ResponseWriter, r *http.Request, body string, through http.Handler) {
	d, released := n.chosen(r, body)
	wait := func() {
		select {
		case <-released:
		case <-r.Context().Done():
		}
	}
	switch {
	case d == nil:
		through.ServeHTTP(w, r)
	case d.Status != 0:
		if strings.HasPrefix(d.Body, "{") {
			w.Header().Set("Content-Type", "application/problem+json")
		}
		w.WriteHeader(d.Status)
		fmt.Fprint(w, d.Body)
	case d.Hold:
		wait()
		through.ServeHTTP(w, r)
	case d.Later:
		answer := httptest.NewRecorder()
		through.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(ofLaterVersion(answer.Body.Bytes())) // the client may have gone
	default: // the client may go, and the coordinator gets the request nevertheless
		answer := httptest.NewRecorder()
		through.ServeHTTP(answer, r.WithContext(context.WithoutCancel(r.Context())))
		if d.LoseAnswer {
			panic(http.ErrAbortHandler)
		}
		wait()
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the client may have gone
	}
}

// noting notes the request if it is accepted.
func (n *network) noting(through http.Handler, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &seenStatus{ResponseWriter: w}
		through.ServeHTTP(seen, r)
		if seen.status/100 == 2 {
			n.requests.note(r, body)
		}
	})
}

// seenStatus remembers the status of an answer.
type seenStatus struct {
	http.ResponseWriter
	status int
}

func (s *seenStatus) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController find what else the writer can do.
func (s *seenStatus) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// chosen returns the disturbance of a request, nil for none, and what ends it.
func (n *network) chosen(r *http.Request, body string) (*disturbance, <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := r.Header.Get("Idempotency-Key")
	for _, d := range n.now {
		method, path, _ := strings.Cut(d.On, " ")
		if d.Later {
			return d, n.released
		}
		if d.On == "" || r.Method != method || !strings.HasSuffix(r.URL.Path, path) || !strings.Contains(body, d.Has) || d.Without != "" && strings.Contains(body, d.Without) {
			continue
		}
		if d.SameKey && d.key != "" && d.key != key {
			continue
		}
		d.key = key
		if d.seen++; d.seen > d.After && (d.Times == 0 || d.seen <= d.After+d.Times) {
			return d, n.released
		}
	}
	return nil, nil
}

// listen passes connections on to an address, and returns its own.
func (n *network) listen(t *testing.T, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return // the test ends
			}
			running.Go(func() { n.pass(from, to) })
		}
	})
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		n.closeAll()
		running.Wait()
	})
	return l.Addr().String()
}

// pass passes one connection on, both ways, until one side ends.
func (n *network) pass(from net.Conn, address string) {
	defer from.Close()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return // the coordinator is away
	}
	defer to.Close()
	n.mu.Lock()
	n.conns[from], n.conns[to] = true, true
	n.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { n.copy("request", to, from) })
	both.Go(func() { n.copy("answer", from, to) })
	both.Wait()
	n.mu.Lock()
	delete(n.conns, from)
	delete(n.conns, to)
	n.mu.Unlock()
}

// copy copies one direction, and closes both connections when it ends.
func (n *network) copy(of string, to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		read, err := from.Read(buffer)
		part, last := n.part(of, buffer[:read])
		for len(part) > 0 {
			now := len(part)
			if bytes, pause := n.pace(); bytes > 0 {
				now = min(now, bytes)
				<-time.After(pause)
			}
			if _, failed := to.Write(part[:now]); failed != nil {
				return
			}
			part = part[now:]
		}
		if err != nil || last {
			return
		}
	}
}

// part returns the bytes that pass, and whether the connection is cut after them.
func (n *network) part(of string, all []byte) (part []byte, last bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.passed[of]
	n.passed[of] += len(all)
	for _, d := range n.now {
		if d.Cut != nil && d.Cut.Of == of && !n.cutDone && n.passed[of] > d.Cut.After {
			n.cutDone = true
			return all[:max(0, d.Cut.After-before)], true
		}
	}
	return all, false
}

// pace returns how many bytes may pass at once, 0 for all, and the pause before.
func (n *network) pace() (bytes int, pause time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, d := range n.now {
		if d.Slow != nil {
			return d.Slow.Bytes, time.Duration(d.Slow.PauseMS) * time.Millisecond
		}
	}
	return 0, 0
}

var discarded = log.New(io.Discard, "", 0)
