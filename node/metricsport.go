package node

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"leasehold/coordinator/api"
	"leasehold/shared/api/client"
	"leasehold/shared/catalog"
	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/process/exposition"
)

const (
	readerLife    = time.Minute      // after which the coordinator is asked about a token again
	readerTimeout = 10 * time.Second // of asking
	maxReaders    = 16               // tokens that are remembered
)

// serveMetrics serves the metrics of this process at cfg.Metrics until r is closed; nothing if that is empty. Beyond this
// machine it speaks TLS and admits readers of the coordinator; it fails with config.Invalid if the process has no
// certificate, unless cfg.Insecure is set.
func (r *remoteNode) serveMetrics(ctx context.Context) error {
	if r.cfg.Metrics == "" {
		return nil
	}
	registry := exposition.NewRegistry()
	registry.MustRegister(r.figures.collect(r.mode == config.Worker))
	handler := exposition.Handler(registry)
	var secured *tls.Config
	switch {
	case config.IsLoopback(r.cfg.Metrics):
		handler = forThisMachine(handler)
	case r.member != nil:
		secured = r.member.MetricsServer()
		handler = (&readers{ask: r.asksAsReader, turn: make(chan struct{}, 1), known: map[[sha256.Size]byte]time.Time{}}).admit(handler)
	case !r.cfg.Insecure:
		return config.Invalid{{Key: "metrics", Text: fmt.Sprintf(
			"metrics %s: the coordinator does not authenticate, so anyone could read them: use an address of this machine, a join line (--join), or --insecure", r.cfg.Metrics)}}
	}
	port, err := net.Listen("tcp", r.cfg.Metrics)
	if err != nil {
		return config.Invalid{{Key: "metrics", Text: err.Error()}}
	}
	if secured != nil {
		port = tls.NewListener(port, secured)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", handler)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- api.Serve(running, port, mux) }()
	r.opened.Push(func() error { stop(); return <-served })
	r.log.Info("serving metrics", "address", port.Addr().String(), "tls", secured != nil)
	return nil
}

// asksAsReader asks the coordinator with the token of a scraper for something that needs the role reader. It must not
// be something for which an older coordinator has no route.
func (r *remoteNode) asksAsReader(ctx context.Context, token string) error {
	c, err := r.member.ClientAs(token)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Do(ctx, client.Call{Method: "GET", Path: "totals", Answer: &catalog.Totals{}, Repeat: true})
	return err
}

// forThisMachine refuses requests that a web page makes a browser of this machine send.
func forThisMachine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !api.AllowsHost(r.Host, nil) {
			http.Error(w, "this name is not one of this machine", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// readers admits requests with the token of a reader. The coordinator decides, because it has the tokens: each is asked
// about once in readerLife, and one at a time, so that wrong tokens do not load the coordinator.
type readers struct {
	ask  func(ctx context.Context, token string) error
	turn chan struct{} // of the request that asks

	mu    sync.Mutex                      // guards known
	known map[[sha256.Size]byte]time.Time // tokens that were good, and until when they are; at most maxReaders
}

// admit returns next for readers. Other requests get 401 or 403, and 503 if the coordinator cannot be asked.
func (x *readers) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := x.check(r); err != nil {
			row := fault.Of(err)
			if row.Kind != fault.ErrUnauthenticated && row.Kind != fault.ErrForbidden {
				row = fault.Of(fault.ErrUnavailable)
			}
			http.Error(w, "metrics need the token of a reader: "+row.Code, row.HTTPStatus)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// check returns nil if a request has the token of a reader. The error is fault.ErrUnauthenticated or fault.ErrForbidden
// if it has none, and another one if the coordinator cannot be asked.
func (x *readers) check(r *http.Request) error {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return fault.ErrUnauthenticated
	}
	key := sha256.Sum256([]byte(token))
	if x.isKnown(key) {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), readerTimeout)
	defer cancel()
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-ctx.Done():
		return fault.ErrUnavailable
	}
	if x.isKnown(key) { // another request asked meanwhile
		return nil
	}
	err := x.ask(ctx, token)
	if err == nil {
		x.remember(key)
	}
	if errors.Is(err, fault.ErrInvalid) { // not a token, such as one with other characters
		return fault.ErrUnauthenticated
	}
	return err
}

func (x *readers) isKnown(key [sha256.Size]byte) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return time.Now().Before(x.known[key])
}

// remember keeps a token for readerLife. If there are too many, it forgets the others.
func (x *readers) remember(key [sha256.Size]byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.known) >= maxReaders {
		clear(x.known)
	}
	x.known[key] = time.Now().Add(readerLife)
}
