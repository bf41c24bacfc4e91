package api

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"leasehold/shared/process/supervisor"
)

// Limits of connections.
const (
	maxConnections = 10_000
	maxHeaderBytes = 64 << 10
	headerTimeout  = 5 * time.Second // closes connections that send nothing
	idleTimeout    = 2 * time.Minute
	shutdownGrace  = 10 * time.Second // for requests in progress when the server stops
)

type drainKey struct{}

// Serve serves h on ln until ctx ends; then it accepts no more connections, lets requests in
// progress finish for up to shutdownGrace, and returns nil. It closes ln. A handler that
// waits or streams should return when the channel of Draining is closed.
func Serve(ctx context.Context, ln net.Listener, h http.Handler) error {
	return ServeUpTo(ctx, ln, h, maxConnections, nil)
}

// ServeUpTo is Serve for connections whose requests have what of adds to the context of each connection (nil: nothing),
// and with at most so many connections at a time. For another one, the connection that has been without
// a request for longest is closed.
func ServeUpTo(ctx context.Context, ln net.Listener, h http.Handler, most int, of func(context.Context, net.Conn) context.Context) error {
	limited := limitConnections(ln, most)
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ReadTimeout: callTimeout, WriteTimeout: callTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		// Requests may continue after ctx has ended, until shutdownGrace is over.
		BaseContext: func(net.Listener) context.Context {
			return context.WithValue(context.WithoutCancel(ctx), drainKey{}, ctx)
		},
		ConnState:   limited.noteState,
		ConnContext: of,
		Protocols:   protocols(),
		ErrorLog:    log.New(io.Discard, "", 0), // errors of single connections are the clients'
	}
	if err := supervisor.ServeHTTP(ctx, s, limited, shutdownGrace); err != nil {
		return fmt.Errorf("api: %w", err)
	}
	return nil
}

// protocols are HTTP/1.1, and HTTP/2 in a connection whose TLS the port has ended: a browser has more than six streams
// then.
func protocols() *http.Protocols {
	var p http.Protocols
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(true)
	return &p
}

// Draining returns a channel that closes when the server of a request starts to stop. It is nil, and so never
// closes, if the request does not come from Serve.
func Draining(ctx context.Context) <-chan struct{} {
	if serving, ok := ctx.Value(drainKey{}).(context.Context); ok {
		return serving.Done()
	}
	return nil
}

// draining reports whether the server of a request stops.
func draining(ctx context.Context) bool {
	select {
	case <-Draining(ctx):
		return true
	default:
		return false
	}
}
