package native_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
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

// bubble runs a test in a house in fake time; the house is well afterwards.
func bubble(t *testing.T, c native.Config, test func(h *house)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, spacetest.Procedures(), c)
		s := h.space()
		test(h)
		require.NoError(t, s.Put(t.Context(), tuple.New("well", int64(1)), 0))
		_, err := s.Get(t.Context(), tuple.Match("well", int64(1)))
		require.NoError(t, err)
		require.Zero(t, h.gate.Panics())
	})
}

// space is the space s as a healthy client sees it.
func (h *house) space() space.Space {
	repo := space.Over(h.session("healthy", 0))
	require.NoError(h, repo.Create(h.Context(), "s", space.Options{}))
	return repo.Space("s")
}

// length is a frame's length.
func length(n uint32) string { return string(binary.BigEndian.AppendUint32(nil, n)) }

func preamble() string { return string(wire.AppendPreamble(nil)) }

func TestFault36SlowClientsAreClosed(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		const strangers = 2000
		s := space.Over(h.session("early", 0)).Space("s")
		ended := make(chan time.Duration, strangers)
		began := time.Now()
		for n := range strangers {
			go func() {
				c := h.raw()
				if n%2 == 0 {
					_, _ = c.Write([]byte("L")) // and the next one in ten seconds
				}
				_, _ = io.ReadAll(c)
				ended <- time.Since(began)
			}()
		}
		synctest.Wait()
		require.NoError(h, s.Put(h.Context(), tuple.New("a", int64(1)), 0))
		require.Zero(h, time.Since(began), "who is in waits for nobody")
		require.NoError(h, space.Over(h.session("late", 0)).Space("s").Put(h.Context(), tuple.New("a", int64(2)), 0))
		require.LessOrEqual(h, time.Since(began), 2*time.Second, "who comes waits for its turn")
		for range strangers {
			require.LessOrEqual(h, <-ended, 2*time.Second+5*time.Second)
		}
		late := h.hello("later", 0)
		late.speaks(length(100) + "a frame that breaks off")
		late.closed()
		require.LessOrEqual(h, time.Since(began), time.Minute)
	})
}

func TestFault37AClientThatDoesNotReadIsDropped(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		s := space.Over(h.session("other", 0)).Space("s")
		require.NoError(h, s.Put(h.Context(), tuple.New("large", strings.Repeat("x", tuple.MaxBytes-100)), 0))
		c := h.hello("slow", 0)
		for n := range uint64(64) { // more than may be queued
			c.request(n+1, space.Request{Verb: space.VerbQueryP, Space: "s", Template: tuple.Match("large", tuple.AnyString)})
		}
		<-time.After(10*time.Second + 1)
		_, err := c.Write([]byte{0})
		require.ErrorIs(h, err, io.ErrClosedPipe, "the gate has closed the connection")
	})
}

func TestFault38OversizedFramesAreRefused(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		for _, n := range []uint32{1 << 31, 1<<32 - 1, wire.MaxFrame + 1} {
			c := h.raw()
			c.speaks(preamble() + length(n))
			require.ErrorIs(h, c.refused(false), fault.ErrTooLarge)
			c = h.hello(fmt.Sprint("large-", n), 0)
			c.speaks(length(n))
			require.ErrorIs(h, c.refused(true), fault.ErrTooLarge)
		}
	})
}

func TestFault39WhatIsNoClientIsToldSoOnce(t *testing.T) {
	bubble(t, native.Config{HTTP: "http://127.0.0.1:7412"}, func(h *house) {
		random := make([]byte, 4000)
		for i := range random {
			random[i] = byte(rand.Uint32())
		}
		random[0] = 0xff
		for name, data := range map[string]string{
			"random bytes": string(random), "TLS": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("x", 500),
			"SSH": "SSH-2.0-OpenSSH_9.6\r\n", "nothing but zeros": strings.Repeat("\x00", 100),
		} {
			c := h.raw()
			c.speaks(data)
			err := c.refused(false)
			require.ErrorIs(h, err, fault.ErrInvalid, name)
			require.ErrorContains(h, err, "leasehold", name)
		}
		for name, data := range map[string]string{
			"a request before the hello": preamble() + length(3) + "\x02\x01\x01",
			"a frame of no version":      preamble() + length(3) + "\x09\x04\x01",
			"a hello that is none":       preamble() + length(5) + "\x02\x04\x00\xff\xff",
			"a session without a name":   preamble() + length(3) + "\x02\x04\x00",
		} {
			c := h.raw()
			c.speaks(data)
			require.ErrorIs(h, c.refused(false), fault.ErrInvalid, name)
		}
		c := h.raw()
		c.speaks("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		answer, _ := io.ReadAll(c)
		require.Contains(h, string(answer), "HTTP/1.1 400 ")
		require.Contains(h, string(answer), "http://127.0.0.1:7412")
	})
}

func TestFault39WhatIsNoRequestEndsItsConnection(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		n := 0
		for name, data := range map[string]string{
			"a kind that is none":   length(3) + "\x02\x63\x01",
			"a frame of no call":    length(2) + "\x02\x01",
			"an empty frame":        length(0),
			"a body of no fields":   length(5) + "\x02\x01\x01\xff\xff",
			"a tuple that is none":  length(8) + "\x02\x01\x01\x05\x03\xff\xff\xff",
			"a name that is long":   length(306) + "\x02\x01\x01\x04\xac\x02" + strings.Repeat("x", 300),
			"another hello":         length(3) + "\x02\x04\x01",
			"a welcome to the gate": length(3) + "\x02\x05\x01",
		} {
			n++
			c := h.hello(fmt.Sprint("bad-", n), 0)
			c.speaks(data)
			err := c.refused(true)
			require.Contains(h, []string{"invalid", "too_large"}, fault.Of(err).Code, name)
		}
	})
}

// broken is a listener that fails so often before it works.
type broken struct {
	*port
	fails int
	tries int
}

func (b *broken) Accept() (net.Conn, error) {
	b.tries++
	if b.tries <= b.fails {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return b.port.Accept()
}

func TestFault40TheGateBacksOffWithoutFileDescriptors(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		p := newPort()
		began := time.Now()
		start(h.T, func(ctx context.Context) error { return h.gate.Serve(ctx, &broken{port: p, fails: 100}) })
		c, err := h.dial(h.Context(), remote.Config{Session: "patient", Dial: p.dial})
		require.NoError(h, err)
		require.GreaterOrEqual(h, time.Since(began), 90*time.Second, "no more than one attempt a second")
		require.NoError(h, space.Over(c).Close(h.Context()))
	})
}

func TestFault40ConnectionsAreBounded(t *testing.T) {
	bubble(t, native.Config{Connections: 2}, func(h *house) {
		c := h.session("second", 0)
		third := h.raw()
		require.ErrorIs(h, third.refused(false), fault.ErrOverloaded)
		go func() {
			<-time.After(time.Minute)
			_ = space.Over(c).Close(h.Context())
		}()
		began := time.Now()
		_, err := h.dial(h.Context(), remote.Config{Session: "patient"})
		require.NoError(h, err, "it waits until there is room")
		require.GreaterOrEqual(h, time.Since(began), time.Minute)
	})
}

func TestFault42AnotherVersionIsToldBoth(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		for other, data := range otherVersions(h.T, "client.hex") {
			c := h.raw()
			began := time.Now()
			c.speaks(data)
			head := make([]byte, 5) // what a peer of any version reads first, to name both versions itself
			_, err := io.ReadFull(c.r, head)
			require.NoError(h, err)
			require.Equal(h, string(wire.AppendPreamble(nil)), string(head))
			err = c.refused(true)
			require.ErrorIs(h, err, fault.ErrInvalid)
			require.ErrorContains(h, err, "version 2 of the protocol")
			require.ErrorContains(h, err, other)
			require.Zero(h, time.Since(began), "at once")
		}
		for other, data := range otherVersions(h.T, "gate.hex") {
			p := newPort()
			h.Cleanup(func() { _ = p.Close() })
			go func() {
				if c, err := p.Accept(); err == nil {
					go func() { _, _ = io.Copy(io.Discard, c) }()
					_, _ = io.WriteString(c, data)
				}
			}()
			began := time.Now()
			_, err := h.dial(h.Context(), remote.Config{Session: "new", Dial: p.dial})
			require.ErrorIs(h, err, fault.ErrInvalid)
			require.ErrorContains(h, err, "version 2 of the protocol")
			require.ErrorContains(h, err, other)
			require.Less(h, time.Since(began), time.Second, "it does not try again")
		}
	})
}

// otherVersions returns, by the version that the refusal must name, what peers of
// other versions send first: for version 1 the bytes in testdata/version1, which
// were recorded from the last release that spoke it.
func otherVersions(t *testing.T, recording string) map[string]string {
	dump, err := os.ReadFile(filepath.Join("testdata", "version1", recording))
	require.NoError(t, err)
	var recorded []byte
	for line := range strings.Lines(string(dump)) {
		if len(line) < 60 {
			continue // the last line of a dump of whole lines is empty
		}
		data, err := hex.DecodeString(strings.ReplaceAll(line[10:58], " ", ""))
		require.NoError(t, err)
		recorded = append(recorded, data...)
	}
	require.Equal(t, "LSHD\x01", string(recorded[:5]))
	return map[string]string{"version 1": string(recorded), "version 3": "LSHD\x03 and fields of its own"}
}

func TestAManagerAndAWorkerOfOneNameAreRefused(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		_, err := h.dial(h.Context(), remote.Config{Session: "twin", Mode: "manager", TTL: time.Minute})
		require.NoError(h, err)
		_, err = h.dial(h.Context(), remote.Config{Session: "twin", Mode: "worker", TTL: time.Minute})
		require.ErrorIs(h, err, fault.ErrConflict)
		require.ErrorContains(h, err, "a manager of that name is connected")
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
			h := open(t, spacetest.Procedures(), native.Config{})
			c := h.raw()
			if greeted {
				c = h.hello("fuzz", 0)
			}
			go func() { _, _ = io.Copy(io.Discard, c.r) }()
			_ = c.SetWriteDeadline(time.Now().Add(time.Minute))
			_, _ = c.Write(data)
			<-time.After(time.Second)
			synctest.Wait()
			_ = c.Close()
			h.session("healthy", 0)
			require.Zero(t, h.gate.Panics())
		})
	})
}
