//go:build linux

package chaos

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy forwards connections to a server. It can lose what is sent, in both directions or in one.
type proxy struct {
	address string
	mu      sync.Mutex                                                  // guards what follows
	server  string                                                      // for new connections
	tap     func(server net.Conn) (request, answer func([]byte) []byte) // changes the bytes of new connections; nil: it does not
	lost    bool                                                        // nothing passes, and connections stay open
	held    bool                                                        // nothing comes back
	changed chan struct{}
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", freeAddress(t))
	require.NoError(t, err)
	p := &proxy{address: l.Addr().String(), server: server, changed: make(chan struct{})}
	var running sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.forward(ctx, c) })
		}
	})
	t.Cleanup(func() { stop(); _ = l.Close(); p.cut(false); p.hold(false); running.Wait() })
	return p
}

// forward serves one connection until one side closes it or ctx ends.
func (p *proxy) forward(ctx context.Context, c net.Conn) {
	defer c.Close()
	p.mu.Lock()
	server, tap := p.server, p.tap
	p.mu.Unlock()
	s, err := (&net.Dialer{}).DialContext(ctx, "tcp", server)
	if err != nil {
		return
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close(); _ = s.Close() })()
	request, answer := unchanged, unchanged
	if tap != nil {
		request, answer = tap(s)
	}
	var copying sync.WaitGroup
	pass := func(to, from net.Conn, change func([]byte) []byte, blocked func() bool) {
		defer to.Close()
		b := make([]byte, 32<<10)
		for {
			n, err := from.Read(b)
			if !p.await(ctx, blocked) {
				return
			}
			if _, werr := to.Write(change(b[:n])); err != nil || werr != nil {
				return
			}
		}
	}
	copying.Go(func() { pass(s, c, request, func() bool { return p.lost }) })
	copying.Go(func() { pass(c, s, answer, func() bool { return p.lost || p.held }) })
	copying.Wait()
}

func unchanged(b []byte) []byte { return b }

// await waits while blocked returns true. It returns false if ctx ends.
func (p *proxy) await(ctx context.Context, blocked func() bool) bool {
	for {
		p.mu.Lock()
		wait, changed := blocked(), p.changed
		p.mu.Unlock()
		if !wait {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// cut has the proxy lose everything, or pass it again.
func (p *proxy) cut(lost bool) { p.change(func() { p.lost = lost }) }

// hold has the proxy hold what the server sends, or pass it again.
func (p *proxy) hold(held bool) { p.change(func() { p.held = held }) }

// to makes new connections lead to another server.
func (p *proxy) to(server string) { p.change(func() { p.server = server }) }

func (p *proxy) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	close(p.changed)
	p.changed = make(chan struct{})
}
