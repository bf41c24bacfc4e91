package native_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/wire"
)

// addressed is the gate's side of a pipe that seems to come from another machine.
type addressed struct {
	net.Conn
	remote net.Addr
}

func (c addressed) RemoteAddr() net.Addr { return c.remote }

// from returns a dial of the fixture's gate from an address.
func (fx *fixture) from(ip string) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, _ string) (net.Conn, error) {
		client, gate := net.Pipe()
		select {
		case fx.port.now.Load().conns <- addressed{gate, &net.TCPAddr{IP: net.ParseIP(ip), Port: 40_000}}:
			return client, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// rawFrom is rawClient from an address.
func (fx *fixture) rawFrom(ip string) *rawClient {
	c, err := fx.from(ip)(fx.Context(), "")
	require.NoError(fx, err)
	fx.Cleanup(func() { _ = c.Close() })
	return &rawClient{fx: fx, Conn: c, r: bufio.NewReader(c)}
}

// introduce sends the Hello of a new session.
func (c *rawClient) introduce(session, mode string, ttl time.Duration, resume bool) {
	c.session = session
	c.send(wire.AppendPreamble(nil), wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil,
		wire.Hello{Session: session, Mode: mode, Key: []byte("k"), TTL: ttl, Resume: resume})})
}

// admitted requires that the gate admits the client.
func (c *rawClient) admitted() *rawClient {
	c.fx.Helper()
	_, err := wire.ReadPreamble(c.r)
	require.NoError(c.fx, err)
	f := c.frame()
	if f.Kind == wire.Failure {
		err, _ := wire.DecodeError(f.Body)
		require.NoError(c.fx, err)
	}
	require.Equal(c.fx, wire.Welcomed, f.Kind)
	return c
}

const (
	greedy = "192.0.2.1"
	modest = "192.0.2.2"
)

func TestAPeerHasAtMost1000Connections(t *testing.T) {
	exempt := []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
	inBubble(t, native.Config{Rate: 1e6, Exempt: exempt}, func(fx *fixture) {
		var all []*rawClient
		for range 1_000 {
			all = append(all, fx.rawFrom(greedy))
		}
		require.ErrorIs(fx, fx.rawFrom(greedy).refused(false), fault.ErrOverloaded)
		c := fx.rawFrom(modest)
		c.introduce("modest", "client", 0, false)
		c.admitted()
		for _, free := range []string{"127.0.0.1", "198.51.100.7"} {
			for range 1_001 {
				all = append(all, fx.rawFrom(free))
			}
		}
		last := all[len(all)-1]
		last.introduce("last", "client", 0, false)
		last.admitted()
		require.NoError(fx, all[0].Close())
		synctest.Wait()
		again := fx.rawFrom(greedy)
		again.introduce("again", "client", 0, false)
		again.admitted()
	})
}

// A session counts until it is lost, whether it has a connection or not.
func TestAPeerHasAtMost1000Sessions(t *testing.T) {
	inBubble(t, native.Config{Rate: 1e6}, func(fx *fixture) {
		open := func(ip, name string, resume bool) *rawClient {
			c := fx.rawFrom(ip)
			c.introduce(name, "client", time.Minute, resume)
			return c
		}
		for n := range 1_000 {
			require.NoError(fx, open(greedy, fmt.Sprint("greedy-", n), false).admitted().Close())
		}
		synctest.Wait()
		require.ErrorIs(fx, open(greedy, "surplus", false).refused(false), fault.ErrOverloaded)
		open(modest, "modest", false).admitted()
		open(greedy, "greedy-7", true).admitted()
		<-time.After(2 * time.Minute) // they are lost
		synctest.Wait()
		open(greedy, "later", false).admitted()
	})
}

func TestAPeerHasAtMost10000WaitingCalls(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		wait := func(c *rawClient, n uint64) {
			c.request(n, space.Request{Verb: space.VerbQuery, Space: "s", Template: anyA})
		}
		open := func(ip, name string) *rawClient {
			c := fx.rawFrom(ip)
			c.introduce(name, "worker", time.Hour, false)
			return c.admitted()
		}
		const quota, each = 10_000, 4_000
		var last *rawClient
		for n := range quota {
			if n%each == 0 {
				last = open(greedy, fmt.Sprint("greedy-", n))
			}
			wait(last, uint64(n+1))
		}
		synctest.Wait()
		require.Equal(fx, quota, fx.engine.Stats().Waiters)
		wait(last, quota+1)
		require.ErrorIs(fx, last.failed(quota+1), fault.ErrOverloaded)
		last.request(quota+2, space.Request{Verb: space.VerbQueryP, Space: "s", Template: anyA})
		require.Equal(fx, wire.Reply, last.frame().Kind, "a call that does not wait is carried out")
		wait(open(modest, "modest"), 1)
		last.send(nil, wire.Frame{Kind: wire.Cancel, Call: quota})
		require.Error(fx, last.failed(quota))
		synctest.Wait()
		wait(last, quota+3)
		synctest.Wait()
		require.Equal(fx, quota+1, fx.engine.Stats().Waiters)
	})
}

// Clients may have two waiting calls here. The fleet is not counted with them, and calls of a
// lost session no longer count.
func TestWaitingCallsOfClientsLeaveSomeToTheFleet(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		fx.gate.SetMaxClientWaiters(2)
		open := func(name, mode string) *rawClient {
			c := fx.rawClient()
			c.introduce(name, mode, time.Hour, false)
			return c.admitted()
		}
		wait := func(c *rawClient, n uint64) {
			c.request(n, space.Request{Verb: space.VerbQuery, Space: "s", Template: anyA})
		}
		client, worker := open("client-1", "client"), open("worker-1", "worker")
		wait(client, 1)
		wait(client, 2)
		wait(client, 3)
		require.ErrorIs(fx, client.failed(3), fault.ErrOverloaded)
		wait(worker, 1)
		synctest.Wait()
		require.Equal(fx, 3, fx.engine.Stats().Waiters)
		require.NoError(fx, client.Close())
		<-time.After(2 * time.Hour) // its session is lost
		synctest.Wait()
		other := open("client-2", "client")
		wait(other, 1)
		wait(other, 2)
		synctest.Wait()
		require.Equal(fx, 2, fx.engine.Stats().Waiters)
		fx.gate.SetMaxClientWaiters(100) // for the client of inBubble
	})
}

func TestAPeerCreatesAtMost100Spaces(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		open := func(ip, name string) space.Repository {
			c, err := fx.dial(fx.Context(), remote.Config{Session: name, Dial: fx.from(ip)})
			require.NoError(fx, err)
			return space.Over(c)
		}
		first, other := open(greedy, "greedy"), open(modest, "modest")
		for n := range 100 {
			require.NoError(fx, first.Create(fx.Context(), fmt.Sprint("s-", n), space.Options{}))
		}
		err := first.Create(fx.Context(), "surplus", space.Options{})
		require.ErrorIs(fx, err, fault.ErrOverloaded)
		require.ErrorContains(fx, err, "100 spaces")
		require.NoError(fx, first.Create(fx.Context(), "s-1", space.Options{}), "it exists")
		require.NoError(fx, other.Create(fx.Context(), "of another", space.Options{}))
		require.NoError(fx, first.Create(fx.Context(), "of another", space.Options{}))
		near := space.Over(fx.session("near", 0))
		for n := range 200 {
			require.NoError(fx, near.Create(fx.Context(), fmt.Sprint("near-", n), space.Options{}))
		}
	})
}

// All connections but a tenth may be of clients; those before the handshake give way.
func TestATenthOfTheConnectionsIsForManagersAndWorkers(t *testing.T) {
	inBubble(t, native.Config{Connections: 20}, func(fx *fixture) {
		open := func(name, mode string) *rawClient {
			c := fx.rawClient()
			c.introduce(name, mode, 0, false)
			return c
		}
		for n := range 17 { // and the client of inBubble
			open(fmt.Sprint("client-", n), "client").admitted()
		}
		require.ErrorIs(fx, open("surplus", "client").refused(false), fault.ErrOverloaded)
		synctest.Wait()
		silent := []*rawClient{fx.rawClient(), fx.rawClient()}
		for n, c := range silent {
			worker := open(fmt.Sprint("worker-", n), "worker").admitted()
			c.closed()
			defer worker.Close()
		}
		require.ErrorIs(fx, fx.rawClient().refused(false), fault.ErrOverloaded)
	})
}

func TestAHelloHasAtMost4KiB(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		c := fx.rawClient()
		_, err := c.Write(wire.AppendPreamble(nil))
		require.NoError(fx, err)
		c.sendBytes(length(4097))
		require.ErrorIs(fx, c.refused(false), fault.ErrTooLarge)
		c = fx.rawClient()
		_, err = c.Write(wire.AppendPreamble(nil))
		require.NoError(fx, err)
		_, err = io.WriteString(c, length(4096))
		require.NoError(fx, err)
		synctest.Wait()
		require.Zero(fx, fx.gate.Panics())
	})
}
