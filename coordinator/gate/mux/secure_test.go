package mux_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/authority"
	"leasehold/coordinator/gate/mux"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/space/wire"
)

// addressed is a pipe whose other side has an address.
type addressed struct {
	net.Conn
	remote net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.remote }

var (
	here  = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 40_000}
	there = &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 40_000}
)

// securePort is a port with TLS, in a bubble with fake time. Its gates for the native protocol, JSON and gob answer with
// their name, what they read first and whether the connection has TLS; HTTP is served by net/http.
type securePort struct {
	*testing.T
	port      *mux.Port
	base      *base
	authority *authority.Authority
	reached   atomic.Int64 // connections that reached a gate other than HTTP
}

// withSecurePort runs test with a port with TLS and a bound of pending connections.
func withSecurePort(t *testing.T, pending int, test func(p *securePort)) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ca, err := authority.Create(filepath.Join(dir, "identity"), time.Now)
		require.NoError(t, err)
		p := &securePort{T: t, base: &base{make(chan net.Conn), make(chan struct{})}, authority: ca}
		port := mux.New(p.base, mux.Config{Pending: pending, TLS: ca.ServerConfig(func() []string { return nil }), Log: slog.New(slog.DiscardHandler)})
		p.port = port
		for name, protocol := range map[string]mux.Protocol{"native": mux.Native, "JSON": mux.JSON, "gob": mux.Gob} {
			l := port.Listener(protocol)
			go p.answerEach(l, name)
			defer l.Close()
		}
		web := newWebServer()
		httpListener := port.Listener(mux.HTTP)
		served := make(chan error)
		go func() { served <- web.Serve(httpListener) }()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- port.Serve(ctx) }()
		test(p)
		require.NoError(t, web.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
		stop()
		require.NoError(t, <-ended)
	})
}

// answerEach answers each connection of a gate, and closes it.
func (p *securePort) answerEach(l net.Listener, name string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		p.reached.Add(1)
		var first [16]byte
		n, _ := c.Read(first[:])
		_, secured := mux.StateOf(c)
		_, _ = fmt.Fprintf(c, "%s %q %v", name, first[:n], secured)
		_ = c.Close()
	}
}

// newWebServer returns a server whose answer has the version of HTTP, and whether the connection has TLS.
func newWebServer() *http.Server {
	type key struct{}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Protocols:   &protocols,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, key{}, c) },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, secured := mux.StateOf(r.Context().Value(key{}).(net.Conn))
			_, _ = fmt.Fprintf(w, "HTTP/%d %v", r.ProtoMajor, secured)
		}),
	}
}

// dial opens a connection from an address.
func (p *securePort) dial(from net.Addr) net.Conn {
	client, server := net.Pipe()
	p.base.conns <- addressed{server, from}
	return client
}

// dialTLS opens a connection as processes of the fleet do.
func (p *securePort) dialTLS(from net.Addr) *tls.Conn {
	p.Helper()
	config := identity.ClientConfig(p.authority.Fingerprint(), func() *tls.Certificate { return nil }, time.Now)
	config.SessionTicketsDisabled = true // a pipe has no buffer, so the server would wait until the client reads the ticket
	c := tls.Client(p.dial(from), config)
	require.NoError(p, c.HandshakeContext(p.Context()))
	return c
}

func TestInsideTLSEachProtocolReachesItsGate(t *testing.T) {
	withSecurePort(t, 0, func(p *securePort) {
		for head, want := range map[string]string{"LSHD": `native "LSHD" true`, `{"a"}`: `JSON "{\"a\"}" true`, "\x28\x7f\x03": `gob "(\x7f\x03" true`} {
			require.Equal(p, want, ask(p.T, p.dialTLS(there), head))
		}
		c := p.dialTLS(there)
		_, err := io.WriteString(c, "G") // the beginning of a request in two records
		require.NoError(p, err)
		require.Contains(p, ask(p.T, c, "ET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "HTTP/1 true")
	})
}

func TestABrowserSpeaksHTTP2InsideTLS(t *testing.T) {
	withSecurePort(t, 0, func(p *securePort) {
		roots := &tls.Config{InsecureSkipVerify: true, Time: time.Now, ServerName: "localhost"}
		for want, h2 := range map[string]bool{"HTTP/1 true": false, "HTTP/2 true": true} {
			var protocols http.Protocols
			protocols.SetHTTP1(!h2)
			protocols.SetHTTP2(h2)
			browser := &http.Transport{Protocols: &protocols, TLSClientConfig: roots.Clone(), DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial(there), nil }}
			resp, err := (&http.Client{Transport: browser}).Get("https://localhost/")
			require.NoError(p, err)
			text, err := io.ReadAll(resp.Body)
			require.NoError(p, err)
			require.NoError(p, resp.Body.Close())
			require.Equal(p, want, string(text))
			browser.CloseIdleConnections()
		}
	})
}

func TestClientsWithoutTLSAreRefusedInTheirProtocol(t *testing.T) {
	withSecurePort(t, 0, func(p *securePort) {
		for _, from := range []net.Addr{here, there} { // a session of a process needs its certificate on this machine too
			c := p.dial(from)
			_, err := io.WriteString(c, "LSHD")
			require.NoError(p, err)
			in := bufio.NewReader(c)
			_, err = wire.ReadPreamble(in)
			require.NoError(p, err)
			f, _, err := wire.Read(in, nil)
			require.NoError(p, err)
			require.Equal(p, wire.Failure, f.Kind)
			why, err := wire.DecodeError(f.Body)
			require.NoError(p, err)
			require.ErrorIs(p, why, fault.ErrUnauthenticated)
			require.ErrorContains(p, why, "--join")
		}
		answer := ask(p.T, p.dial(there), "GET ")
		require.True(p, strings.HasPrefix(answer, "HTTP/1.1 400 "), answer)
		require.Contains(p, answer, "use https://")
		require.Contains(p, ask(p.T, p.dial(there), "{"), `"statusMessage":"this coordinator authenticates its clients`)
		require.Contains(p, ask(p.T, p.dial(there), "\x28\x7f\x03"), "leasehold: this coordinator authenticates its clients")
	})
}

func TestOnThisMachineProxiesAndForeignProgramsNeedNoTLS(t *testing.T) {
	withSecurePort(t, 0, func(p *securePort) {
		require.Contains(p, ask(p.T, p.dial(here), "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), "HTTP/1 false")
		require.Equal(p, `JSON "{" false`, ask(p.T, p.dial(here), "{"))
		require.Equal(p, `gob "(\x7f\x03" false`, ask(p.T, p.dial(here), "\x28\x7f\x03"))
	})
}

func TestAProtocolThatIsAdmittedWithoutTLSNeedsNone(t *testing.T) {
	withSecurePort(t, 0, func(p *securePort) {
		p.port.AdmitPlain(mux.JSON)
		require.Equal(p, `JSON "{" false`, ask(p.T, p.dial(there), "{"))
		require.NotContains(p, ask(p.T, p.dial(there), "\x28\x7f\x03"), "gob ")
	})
}

// hello returns the first bytes that a client of TLS sends.
func (p *securePort) hello() []byte {
	client, server := net.Pipe()
	go func() {
		_ = tls.Client(client, &tls.Config{InsecureSkipVerify: true}).Handshake() // fails when the pipe is closed
	}()
	buf := make([]byte, 16<<10)
	n, err := server.Read(buf)
	require.NoError(p, err)
	require.NoError(p, server.Close())
	return buf[:n]
}

func TestAHandshakeThatStopsIsClosedAfterTenSeconds(t *testing.T) {
	withSecurePort(t, 0, func(p *securePort) {
		hello := p.hello()
		for name, head := range map[string][]byte{"two bytes": hello[:2], "half a hello": hello[:len(hello)/2]} {
			c, began := p.dial(there), time.Now()
			_, err := c.Write(head)
			require.NoError(p, err, name)
			_, err = io.ReadAll(c)
			require.NoError(p, err, name)
			require.Equal(p, 10*time.Second, time.Since(began), name)
		}
	})
}

func TestAClientThatSaysNothingInsideTLSIsClosedAsOneOutside(t *testing.T) {
	withSecurePort(t, 0, func(p *securePort) {
		c, began := p.dialTLS(there), time.Now()
		_, err := io.ReadAll(c)
		require.NoError(p, err)
		require.Equal(p, time.Hour, time.Since(began))
	})
}

func TestHandshakesAndSilentClientsInsideTLSArePending(t *testing.T) {
	withSecurePort(t, 2, func(p *securePort) {
		stopped, silent := p.dial(there), p.dialTLS(there)
		_, err := stopped.Write(p.hello()[:100])
		require.NoError(p, err)
		synctest.Wait()
		began := time.Now()
		third := p.dialTLS(there) // in place of the first
		_, err = io.ReadAll(stopped)
		require.NoError(p, err)
		fourth := p.dialTLS(there) // in place of the second
		_, err = io.ReadAll(silent)
		require.NoError(p, err)
		require.Zero(p, time.Since(began))
		for _, c := range []net.Conn{third, fourth} {
			require.Equal(p, `JSON "{" true`, ask(p.T, c, "{"))
		}
	})
}

// wrapper is a connection that a gate has wrapped.
type wrapper struct{ net.Conn }

func (w wrapper) NetConn() net.Conn { return w.Conn }

// opaque hides what it wraps.
type opaque struct{ net.Conn }

func TestTheStateOfTLSIsFoundThroughWrappers(t *testing.T) {
	t.Parallel()
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	secured := tls.Client(client, &tls.Config{InsecureSkipVerify: true})
	for what, x := range map[string]struct {
		conn net.Conn
		want bool
	}{
		"plain": {server, false}, "TLS": {secured, true}, "wrapped twice": {wrapper{wrapper{secured}}, true},
		"wrapped plain": {wrapper{wrapper{server}}, false}, "hidden": {opaque{secured}, false},
	} {
		_, got := mux.StateOf(x.conn)
		require.Equal(t, x.want, got, what)
	}
}

func TestRefusalsOfAnAddressAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var refusals mux.Refusals
		require.True(t, refusals.IsDue(there, mux.TLS))
		for n := range 10_000 {
			require.False(t, refusals.IsDue(&net.TCPAddr{IP: there.IP, Port: n}, mux.TLS))
		}
		require.True(t, refusals.IsDue(there, mux.Native))
		require.True(t, refusals.IsDue(here, mux.TLS))
		logged := 0
		for n := range 10_000 {
			if refusals.IsDue(&net.TCPAddr{IP: net.IPv4(10, 9, byte(n>>8), byte(n))}, mux.TLS) {
				logged++
			}
		}
		require.Less(t, logged, 1_000, "of many addresses")
		<-time.After(time.Minute)
		require.True(t, refusals.IsDue(there, mux.TLS))
	})
}

func TestHandshakesThatFailAreLoggedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ca, err := authority.Create(filepath.Join(dir, "identity"), time.Now)
		require.NoError(t, err)
		var logged strings.Builder
		b := &base{make(chan net.Conn), make(chan struct{})}
		port := mux.New(b, mux.Config{TLS: ca.ServerConfig(func() []string { return nil }), Log: slog.New(slog.NewTextHandler(&logged, nil))})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- port.Serve(ctx) }()
		for range 50 {
			client, server := net.Pipe()
			b.conns <- addressed{server, there}
			_, err := client.Write([]byte{22, 3, 1, 0, 2, 9, 9}) // a part of a hello
			require.NoError(t, err)
			require.NoError(t, client.Close())
		}
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, 1, strings.Count(logged.String(), "no TLS"), logged.String())
	})
}
