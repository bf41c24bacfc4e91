package mux_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"leasehold/coordinator/gate/mux"
	"leasehold/shared/fault"
	"leasehold/shared/space/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestProtocolsAreRecognisedByTheirFirstBytes(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]mux.Protocol{
		"": mux.Unknown, "L": mux.Unknown, "LSH": mux.Unknown, "LSHD": mux.Native, "LSHX": mux.Other, "\x16": mux.Unknown, "\x16\x03\x01": mux.TLS, "\x16\x7f": mux.Gob,
		"G": mux.Unknown, "GET": mux.Unknown, "GET ": mux.HTTP, "G\xff\x80": mux.Gob, "POST /": mux.HTTP, "PO": mux.Unknown, "P\x7f": mux.Gob,
		"{": mux.JSON, `{"messageType"`: mux.JSON, "\r\n {": mux.JSON, "\n": mux.Unknown, "\x28\x7f\x03": mux.Gob, "\xff\x90\x7f": mux.Gob, "\xfe\x01\x02\xff": mux.Gob,
		"\x1f": mux.Unknown, "\xfe": mux.Unknown, "\xff\x90": mux.Unknown, "\x00": mux.Other, "\xc0": mux.Other, "SSH-2.0-x": mux.Other, "*1\r\n$4\r\n": mux.Other, "PING\r\n": mux.Other,
		"AMQP\x00\x00\x09\x01": mux.Other, "\x10\x1a\x00\x04MQTT": mux.Other, "\x00\x00\x00\x08": mux.Other, "PROXY TCP4": mux.Other, "\r\n\r\n\r\n\r\n": mux.Other,
	} {
		require.Equal(t, want, mux.Recognise([]byte(head)), "%q", head)
	}
}

// base is a listener of pipes, so that time is fake.
type base struct {
	conns chan net.Conn
	done  chan struct{}
}

// Accept returns the next connection that the test sends, until Close.
func (b *base) Accept() (net.Conn, error) {
	select {
	case c := <-b.conns:
		return c, nil
	case <-b.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. It may be repeated.
func (b *base) Close() error {
	select {
	case <-b.done:
	default:
		close(b.done)
	}
	return nil
}
func (b *base) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// inBubble runs test with a port of gates for JSON and gob. Each answers with its
// name and what it read first.
func inBubble(t *testing.T, pending int, test func(t *testing.T, dial func() net.Conn)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &base{make(chan net.Conn), make(chan struct{})}
		port := mux.New(b, mux.Config{Pending: pending, Log: slog.New(slog.DiscardHandler)})
		for name, protocol := range map[string]mux.Protocol{"JSON": mux.JSON, "gob": mux.Gob} {
			l := port.Listener(protocol)
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					var first [16]byte
					n, _ := c.Read(first[:])
					_, _ = fmt.Fprintf(c, "%s %q", name, first[:n])
					_ = c.Close()
				}
			}()
			defer l.Close()
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- port.Serve(ctx) }()
		test(t, func() net.Conn {
			client, server := net.Pipe()
			b.conns <- server
			return client
		})
		stop()
		require.NoError(t, <-ended)
	})
}

// ask sends the beginning of a request, and returns the whole answer.
func ask(t *testing.T, c net.Conn, head string) string {
	t.Helper()
	_, err := io.WriteString(c, head)
	require.NoError(t, err)
	answer, err := io.ReadAll(c)
	require.NoError(t, err)
	return string(answer)
}

func TestConnectionsReachTheGateOfTheirProtocol(t *testing.T) {
	inBubble(t, 0, func(t *testing.T, dial func() net.Conn) {
		require.Equal(t, `JSON "{\"a\"}"`, ask(t, dial(), `{"a"}`))
		require.Equal(t, `gob "(\x7f\x03"`, ask(t, dial(), "\x28\x7f\x03"))
		c := dial()
		_, err := io.WriteString(c, "G") // a length, or the begin of GET
		require.NoError(t, err)
		require.Equal(t, `gob "G\xff"`, ask(t, c, "\xff"))
	})
}

func TestProtocolsThatThePortDoesNotSpeakAreRefused(t *testing.T) {
	inBubble(t, 0, func(t *testing.T, dial func() net.Conn) {
		require.Contains(t, ask(t, dial(), "GET "), "HTTP/1.1 400")
		require.Equal(t, "\x15\x03\x01\x00\x02\x02\x28", ask(t, dial(), "\x16\x03"))
		c := dial()
		_, err := io.WriteString(c, "LSHD")
		require.NoError(t, err)
		in := bufio.NewReader(c)
		_, err = wire.ReadPreamble(in)
		require.NoError(t, err)
		f, _, err := wire.Read(in, nil)
		require.NoError(t, err)
		require.Equal(t, wire.Failure, f.Kind)
		why, err := wire.DecodeError(f.Body)
		require.NoError(t, err)
		require.ErrorIs(t, why, fault.ErrInvalid)
		require.ErrorContains(t, why, "check the address")
	})
}

func TestAClientOfEachProtocolIsRefusedInWords(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[mux.Protocol]string{
		mux.JSON: `{"messageType":"FAILURE","status":false,"statusCode":"400","statusMessage":"this port does not speak`,
		mux.Gob:  "leasehold: this port does not speak", mux.HTTP: "This port does not serve HTTP.",
	} {
		client, server := net.Pipe()
		go func() {
			mux.Refuse(server, protocol)
			_ = server.Close()
		}()
		answer, err := io.ReadAll(client)
		require.NoError(t, err)
		require.Contains(t, string(answer), want)
	}
}

func TestAPortForHTTPTellsProcessesToUseTheGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &base{make(chan net.Conn), make(chan struct{})}
		port := mux.New(b, mux.Config{Log: slog.New(slog.DiscardHandler)})
		port.Listener(mux.HTTP)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- port.Serve(ctx) }()
		client, server := net.Pipe()
		b.conns <- server
		_, err := io.WriteString(client, "LSHD")
		require.NoError(t, err)
		answer, err := io.ReadAll(client)
		require.NoError(t, err)
		require.Contains(t, string(answer), "use the address of its gate")
		stop()
		require.NoError(t, <-ended)
	})
}

func TestAConnectionThatSendsNothingIsClosed(t *testing.T) {
	inBubble(t, 0, func(t *testing.T, dial func() net.Conn) {
		silent, began := dial(), time.Now()
		_, err := silent.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, time.Hour, time.Since(began))
	})
}

func TestOfTooManySilentConnectionsTheOldestIsClosed(t *testing.T) {
	inBubble(t, 2, func(t *testing.T, dial func() net.Conn) {
		oldest, began := dial(), time.Now()
		second := dial()
		synctest.Wait()
		third := dial()
		_, err := oldest.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.Zero(t, time.Since(began))
		require.Equal(t, `JSON "{"`, ask(t, third, "{"))
		require.Equal(t, `JSON "{"`, ask(t, second, "{"))
	})
}

func TestAConnectionThatWaitsForItsGateIsNotClosedForAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &base{make(chan net.Conn), make(chan struct{})}
		port := mux.New(b, mux.Config{Pending: 1, Log: slog.New(slog.DiscardHandler)})
		l := port.Listener(mux.JSON)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- port.Serve(ctx) }()
		client, server := net.Pipe()
		b.conns <- server
		_, err := io.WriteString(client, "{")
		require.NoError(t, err)
		synctest.Wait()
		silent, other := net.Pipe()
		b.conns <- other
		synctest.Wait()
		c, err := l.Accept()
		require.NoError(t, err)
		go func() { _, _ = io.WriteString(c, "answer"); _ = c.Close() }()
		answer, err := io.ReadAll(client)
		require.NoError(t, err)
		require.Equal(t, "answer", string(answer))
		require.NoError(t, silent.Close())
		stop()
		require.NoError(t, <-ended)
	})
}

func TestAClientOfAnUnknownProtocolIsToldAtOnceWhatThePortSpeaks(t *testing.T) {
	inBubble(t, 0, func(t *testing.T, dial func() net.Conn) {
		began := time.Now()
		for _, head := range []string{"SSH-2.0-x\r\n", "*1\r\n$4\r\nPING\r\n", "AMQP\x00\x00\x09\x01", "\x00\x00\x00\x00\x00\x00\x00\x00"} {
			c := dial()
			go func() { _, _ = io.WriteString(c, head) }() // the port reads a part of it
			answer, err := io.ReadAll(c)
			require.NoError(t, err)
			require.Equal(t, "leasehold: this port does not speak the protocol of this client, only the protocol of pSpace (JSON) and the protocol of goSpace (gob): check the address\n", string(answer), head)
			require.NoError(t, c.Close())
		}
		require.Zero(t, time.Since(began))
		require.Contains(t, ask(t, dial(), "G"), "check the address")
		require.Equal(t, 10*time.Second, time.Since(began), "more bytes did not come")
	})
}

func TestAPortWithoutJSONClosesASilentConnectionSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged strings.Builder
		b := &base{make(chan net.Conn), make(chan struct{})}
		port := mux.New(b, mux.Config{Log: slog.New(slog.NewTextHandler(&logged, nil))})
		_ = port.Listener(mux.Gob)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- port.Serve(ctx) }()
		for range 50 {
			client, server := net.Pipe()
			b.conns <- server
			_ = ask(t, client, "{")
		}
		client, server := net.Pipe()
		b.conns <- server
		began := time.Now()
		_, err := client.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, 10*time.Second, time.Since(began))
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, 1, strings.Count(logged.String(), `"first bytes"=7b`), "one line for a peer")
	})
}

func ExampleRecognise() {
	fmt.Println(mux.Recognise([]byte("GET /")) == mux.HTTP, mux.Recognise([]byte("G\xff\x81")) == mux.Gob)
	// Output: true true
}

func TestARefusalArrivesAlthoughTheClientHasSentMore(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	port := mux.New(l, mux.Config{Log: slog.New(slog.DiscardHandler)})
	defer port.Listener(mux.JSON).Close()
	go func() { ended <- port.Serve(ctx) }()
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	require.Contains(t, ask(t, c, "\x28\x7f"+strings.Repeat("x", 4000)), "check the address")
	require.NoError(t, c.Close())
	stop()
	require.NoError(t, <-ended)
}
