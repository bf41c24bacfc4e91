package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// Bounds of connections.
const (
	maxConnections = 10_000
	maxHeaderBytes = 64 << 10
	headerTimeout  = 5 * time.Second // so that a connection that says nothing is closed
	idleTimeout    = 2 * time.Minute
	shutdownGrace  = 10 * time.Second // for requests under way when the end comes
)

type drainKey struct{}

// Serve answers on ln until ctx ends; then it takes no more, lets requests under
// way finish for a while, and returns nil. It closes ln. A request that waits or
// streams should end when Draining does.
func Serve(ctx context.Context, ln net.Listener, h http.Handler) error {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: callTimeout, WriteTimeout: callTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		// Requests outlive ctx for the grace.
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.WithoutCancel(ctx), drainKey{}, ctx)
		},
		ErrorLog: log.New(io.Discard, "", 0), // what a client did to its own connection is none of our concern
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(netutil.LimitListener(ln, maxConnections)) }()
	select {
	case err := <-served:
		return fmt.Errorf("api: %w", err)
	case <-ctx.Done():
	}
	grace, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer stop()
	err := s.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.Close()
	}
	<-served
	return err
}

// Draining returns a channel that is closed when the server of a request is about
// to end; it is nil, so never closed, for a request that Serve did not bring.
func Draining(ctx context.Context) <-chan struct{} {
	if serving, ok := ctx.Value(drainKey{}).(context.Context); ok {
		return serving.Done()
	}
	return nil
}
