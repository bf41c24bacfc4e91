package native_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

// bubble runs a test in a fixture in fake time; the fixture is well afterwards.
func inBubble(t *testing.T, c native.Config, test func(fx *fixture)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fx := newFixture(t, spacetest.Procedures(), c)
		s := fx.space()
		test(fx)
		require.NoError(t, s.Put(t.Context(), tuple.New("well", int64(1)), 0))
		_, err := s.Get(t.Context(), tuple.Match("well", int64(1)))
		require.NoError(t, err)
		require.Zero(t, fx.gate.Panics())
	})
}

// space is the space s as a healthy client sees it.
func (fx *fixture) space() space.Space {
	repo := space.Over(fx.session("healthy", 0))
	require.NoError(fx, repo.Create(fx.Context(), "s", space.Options{}))
	return repo.Space("s")
}

// length is a frame's length.
func length(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }

func preamble() string { return string(wire.AppendPreamble(nil)) }

// 2,000 connections send nothing, or one byte. They must delay neither clients that are there
// nor much a new one, and all must be closed after the handshake's time.
func TestFault36SlowClientsAreClosed(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		const clients = 2000
		s := space.Over(fx.session("early", 0)).Space("s")
		ended := make(chan time.Duration, clients)
		began := time.Now()
		for n := range clients {
			go func() {
				c := fx.rawClient()
				if n%2 == 0 {
					_, _ = c.Write([]byte("L")) // and the next one in ten seconds
				}
				_, _ = io.ReadAll(c)
				ended <- time.Since(began)
			}()
		}
		synctest.Wait()
		require.NoError(fx, s.Put(fx.Context(), tuple.New("a", int64(1)), 0))
		require.Zero(fx, time.Since(began), "an admitted client does not wait")
		require.NoError(fx, space.Over(fx.session("late", 0)).Space("s").Put(fx.Context(), tuple.New("a", int64(2)), 0))
		require.LessOrEqual(fx, time.Since(began), 2*time.Second, "a new one waits for the rate limit")
		for range clients {
			require.LessOrEqual(fx, <-ended, 2*time.Second+5*time.Second)
		}
		late := fx.hello("later", 0)
		late.sendBytes(length(100) + "a frame that breaks off")
		late.closed()
		require.LessOrEqual(fx, time.Since(began), time.Minute)
	})
}

func TestFault37AClientThatDoesNotReadIsDropped(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		s := space.Over(fx.session("other", 0)).Space("s")
		require.NoError(fx, s.Put(fx.Context(), tuple.New("large", strings.Repeat("x", tuple.MaxBytes-100)), 0))
		c := fx.hello("slow", 0)
		for n := range uint64(64) { // more than may be queued
			c.request(n+1, space.Request{Verb: space.VerbQueryP, Space: "s", Template: tuple.Match("large", tuple.AnyString)})
		}
		<-time.After(10*time.Second + 1)
		_, err := c.Write([]byte{0})
		require.ErrorIs(fx, err, io.ErrClosedPipe, "the gate has closed the connection")
	})
}

func TestFault38OversizedFramesAreRefused(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		for _, n := range []uint32{1 << 31, 1<<32 - 1, wire.MaxFrame + 1} {
			c := fx.rawClient()
			c.sendBytes(preamble() + length(n))
			require.ErrorIs(fx, c.refused(false), fault.ErrTooLarge)
			c = fx.hello(fmt.Sprint("large-", n), 0)
			c.sendBytes(length(n))
			require.ErrorIs(fx, c.refused(true), fault.ErrTooLarge)
		}
	})
}

// What is another protocol, and what begins as ours and is malformed, gets one answer that tells
// what this port is, each in the form that the other side can show.
func TestFault39WhatIsNoClientIsToldSoOnce(t *testing.T) {
	inBubble(t, native.Config{HTTP: "http://127.0.0.1:7412"}, func(fx *fixture) {
		random := make([]byte, 4000)
		for i := range random {
			random[i] = byte(rand.Uint32())
		}
		random[0] = 0xff
		for name, data := range map[string]string{
			"random bytes": string(random),
			"SSH":          "SSH-2.0-OpenSSH_9.6\r\n", "only zeros": strings.Repeat("\x00", 100),
		} {
			c := fx.rawClient()
			c.sendBytes(data)
			err := c.refused(false)
			require.ErrorIs(fx, err, fault.ErrInvalid, name)
			require.ErrorContains(fx, err, "leasehold", name)
		}
		for name, data := range map[string]string{
			"a request before the hello": preamble() + length(3) + "\x02\x01\x01",
			"a frame of no version":      preamble() + length(3) + "\x09\x04\x01",
			"a malformed hello":          preamble() + length(5) + "\x02\x04\x00\xff\xff",
			"a session without a name":   preamble() + length(3) + "\x02\x04\x00",
		} {
			c := fx.rawClient()
			c.sendBytes(data)
			require.ErrorIs(fx, c.refused(false), fault.ErrInvalid, name)
		}
		c := fx.rawClient()
		c.sendBytes("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		answer, _ := io.ReadAll(c)
		require.Contains(fx, string(answer), "HTTP/1.1 400 ")
		require.Contains(fx, string(answer), "http://127.0.0.1:7412")
		c = fx.rawClient()
		c.sendBytes(`{"messageType":"PUT_REQUEST"}`)
		answer, _ = io.ReadAll(c)
		require.Contains(fx, string(answer), `"statusMessage":"this port does not speak the protocol of this client`)
		c = fx.rawClient()
		c.sendBytes("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("x", 500))
		answer, _ = io.ReadAll(c)
		require.Equal(fx, "\x15\x03\x01\x00\x02\x02\x28", string(answer), "the alert handshake_failure")
	})
}

func TestFault39WhatIsNoRequestEndsItsConnection(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		n := 0
		for name, data := range map[string]string{
			"an unknown kind":       length(3) + "\x02\x63\x01",
			"a frame of no call":    length(2) + "\x02\x01",
			"an empty frame":        length(0),
			"a body of no fields":   length(5) + "\x02\x01\x01\xff\xff",
			"a malformed tuple":     length(8) + "\x02\x01\x01\x05\x03\xff\xff\xff",
			"a name that is long":   length(306) + "\x02\x01\x01\x04\xac\x02" + strings.Repeat("x", 300),
			"another hello":         length(3) + "\x02\x04\x01",
			"a welcome to the gate": length(3) + "\x02\x05\x01",
		} {
			n++
			c := fx.hello(fmt.Sprint("bad-", n), 0)
			c.sendBytes(data)
			err := c.refused(true)
			require.Contains(fx, []string{"invalid", "too_large"}, fault.Of(err).Code, name)
		}
	})
}

// broken is a listener whose first Accepts fail.
type broken struct {
	*port
	fails int
	tries int
}

// Accept fails at first, as if no file descriptor were left.
func (b *broken) Accept() (net.Conn, error) {
	b.tries++
	if b.tries <= b.fails {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return b.port.Accept()
}

func TestFault40TheGateBacksOffWithoutFileDescriptors(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		p := newPort()
		began := time.Now()
		start(fx.T, func(ctx context.Context) error { return fx.gate.Serve(ctx, &broken{port: p, fails: 100}) })
		c, err := fx.dial(fx.Context(), remote.Config{Session: "patient", Dial: p.dial})
		require.NoError(fx, err)
		require.GreaterOrEqual(fx, time.Since(began), 90*time.Second, "no more than one attempt a second")
		require.NoError(fx, space.Over(c).Close(fx.Context()))
	})
}

func TestFault40ConnectionsAreBounded(t *testing.T) {
	inBubble(t, native.Config{Connections: 2}, func(fx *fixture) {
		c := fx.session("second", 0)
		third := fx.rawClient()
		require.ErrorIs(fx, third.refused(false), fault.ErrOverloaded)
		go func() {
			<-time.After(time.Minute)
			_ = space.Over(c).Close(fx.Context())
		}()
		began := time.Now()
		_, err := fx.dial(fx.Context(), remote.Config{Session: "patient"})
		require.NoError(fx, err, "it waits until a connection is free")
		require.GreaterOrEqual(fx, time.Since(began), time.Minute)
	})
}

func TestFault42AnotherVersionIsToldBoth(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		for other, data := range otherVersions {
			c := fx.rawClient()
			began := time.Now()
			c.sendBytes(data)
			head := make([]byte, 5) // what a peer of any version reads first, to name both versions itself
			_, err := io.ReadFull(c.r, head)
			require.NoError(fx, err)
			require.Equal(fx, string(wire.AppendPreamble(nil)), string(head))
			err = c.refused(true)
			require.ErrorIs(fx, err, fault.ErrInvalid)
			require.ErrorContains(fx, err, "version 2 of the protocol")
			require.ErrorContains(fx, err, other)
			require.Zero(fx, time.Since(began), "at once")
		}
		for other, data := range otherVersions {
			p := newPort()
			fx.Cleanup(func() { _ = p.Close() })
			go func() {
				if c, err := p.Accept(); err == nil {
					go func() { _, _ = io.Copy(io.Discard, c) }()
					_, _ = io.WriteString(c, data)
				}
			}()
			began := time.Now()
			_, err := fx.dial(fx.Context(), remote.Config{Session: "new", Dial: p.dial})
			require.ErrorIs(fx, err, fault.ErrInvalid)
			require.ErrorContains(fx, err, "version 2 of the protocol")
			require.ErrorContains(fx, err, other)
			require.Less(fx, time.Since(began), time.Second, "it does not try again")
		}
	})
}

// otherVersions are what peers of other versions send first, by the version that the refusal must name.
var otherVersions = map[string]string{"version 1": "LSHD\x01 and fields of its own", "version 3": "LSHD\x03 and fields of its own"}

func TestAManagerAndAWorkerOfOneNameAreRefused(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		_, err := fx.dial(fx.Context(), remote.Config{Session: "twin", Mode: "manager", TTL: time.Minute})
		require.NoError(fx, err)
		_, err = fx.dial(fx.Context(), remote.Config{Session: "twin", Mode: "worker", TTL: time.Minute})
		require.ErrorIs(fx, err, fault.ErrConflict)
		require.ErrorContains(fx, err, "a manager of that name is connected")
	})
}

func FuzzConnection(f *testing.F) {
	body, err := wire.AppendRequest(nil, space.Request{Verb: space.VerbPut, Space: "s", Tuple: tuple.New("a", int64(1))})
	require.NoError(f, err)
	put, err := wire.Frame{Kind: wire.Request, Call: 1, Body: body}.Append(nil)
	require.NoError(f, err)
	hello, err := wire.Frame{Kind: wire.Greeting, Body: wire.AppendHello(nil, wire.Hello{Session: "x"})}.Append(wire.AppendPreamble(nil))
	require.NoError(f, err)
	for _, seed := range []string{"", "GET / HTTP/1.1\r\n\r\n", preamble(), string(hello), string(put), string(put) + string(put[:9]), length(3) + "\x02\x06\x01"} {
		f.Add(false, []byte(seed))
		f.Add(true, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, greeted bool, data []byte) {
		synctest.Test(t, func(t *testing.T) {
			fx := newFixture(t, spacetest.Procedures(), native.Config{})
			c := fx.rawClient()
			if greeted {
				c = fx.hello("fuzz", 0)
			}
			go func() { _, _ = io.Copy(io.Discard, c.r) }()
			_ = c.SetWriteDeadline(time.Now().Add(time.Minute))
			_, _ = c.Write(data)
			<-time.After(time.Second)
			synctest.Wait()
			_ = c.Close()
			fx.session("healthy", 0)
			require.Zero(t, fx.gate.Panics())
		})
	})
}
