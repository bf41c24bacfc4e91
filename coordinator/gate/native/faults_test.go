package native_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/space/wire"
	"leasehold/shared/tuple"
)

var anyA = tuple.Match("a", tuple.AnyInt64)

func a(n int) tuple.Tuple { return tuple.New("a", int64(n)) }

// The client dies before its get is served, meanwhile, and before it could acknowledge the
// answer.
func TestFault30WhatWasGotByAClientThatDiesIsBack(t *testing.T) {
	for name, dies := range map[string]func(c *rawClient, put func()){
		"before":   func(c *rawClient, put func()) { _ = c.Close(); put() },
		"while":    func(c *rawClient, put func()) { put(); _ = c.Close() },
		"after":    func(c *rawClient, put func()) { put(); c.frame(); _ = c.Close() },
		"silently": func(c *rawClient, put func()) { put(); c.frame() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, native.Config{}, func(fx *fixture) {
				s := space.Over(fx.session("putter", 0)).Space("s")
				c := fx.hello("victim", 6*time.Second)
				c.request(1, space.Request{Verb: space.VerbGet, Space: "s", Template: anyA, Ack: true, Op: space.OpID{Session: "victim", Seq: space.AutoSeq + 1}})
				synctest.Wait()
				dies(c, func() { require.NoError(fx, s.Put(fx.Context(), a(1), 0)); synctest.Wait() })
				n, err := s.Count(fx.Context(), anyA)
				require.NoError(fx, err)
				require.Zero(fx, n, "the client has it until its session is lost")
				<-time.After(6 * time.Second)
				u, err := s.Get(fx.Context(), anyA)
				require.NoError(fx, err)
				require.Equal(fx, int64(1), u.Int64(1))
			})
		})
	}
}

// freezable is a network that can freeze: no byte gets through then, without an error.
type freezable struct {
	mu     sync.Mutex
	frozen bool
	dials  []time.Time // attempts
	in     []time.Time // of them, those that were connected
}

// reset forgets the dials so far.
func (i *freezable) reset() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.dials, i.in = nil, nil
}

// seen returns when clients dialled, and when they were connected, since then.
func (i *freezable) seen(since time.Time) (dials, in []time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, at := range i.dials {
		dials = append(dials, at.Sub(since))
	}
	for _, at := range i.in {
		in = append(in, at.Sub(since))
	}
	return dials, in
}

// freeze starts or ends the time in which what clients write is lost.
func (i *freezable) freeze(yes bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.frozen = yes
}

// is reports whether the network is frozen.
func (i *freezable) is() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.frozen
}

// through returns a dial over the network; it records when each dial began, and when each that
// succeeded ended.
func (i *freezable) through(dial func(context.Context, string) (net.Conn, error)) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		i.mu.Lock()
		i.dials = append(i.dials, time.Now())
		i.mu.Unlock()
		c, err := dial(ctx, address)
		if err == nil {
			i.mu.Lock()
			i.in = append(i.in, time.Now())
			i.mu.Unlock()
		}
		return &freezableConn{c, i}, err
	}
}

type freezableConn struct {
	net.Conn
	network *freezable
}

// Write drops the bytes while the network is frozen, and reports success, as a network
// does.
func (c *freezableConn) Write(b []byte) (int, error) {
	if c.network.is() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// A frozen network loses all bytes without closing a connection. Within the TTL the client
// connects again and its session goes on. After the TTL the session is lost, and one error reports
// that.
func TestFault34AHalfOpenConnectionIsFoundAndReplaced(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		network := &freezable{}
		c, err := fx.dial(fx.Context(), remote.Config{Session: "far", TTL: 6 * time.Second, Dial: network.through(fx.port.dial)})
		require.NoError(fx, err)
		repo := space.Over(c)
		beat := func() {
			_, err := repo.Call(fx.Context(), space.OpID{}, "test.beat", nil)
			require.NoError(fx, err)
		}
		beat()
		freeze := func(d time.Duration) {
			network.freeze(true)
			go func() {
				<-time.After(d)
				network.freeze(false)
			}()
		}
		freeze(3 * time.Second)
		beat() // within its 6 s
		dials, _ := network.seen(time.Now())
		require.Greater(fx, len(dials), 1)
		require.NoError(fx, repo.Space("s").Put(fx.Context(), a(1), 0))

		freeze(20 * time.Second)
		_, err = repo.Space("s").Get(fx.Context(), tuple.Match("b"))
		require.ErrorIs(fx, err, fault.ErrClosed, "it was away for longer than its TTL")
		require.Equal(fx, 1, strings.Count(err.Error(), fault.ErrClosed.Error()), err)
	})
}

func TestFault34ASilentClientIsLost(t *testing.T) {
	inBubble(t, native.Config{}, func(fx *fixture) {
		c := fx.hello("silent", 0)
		<-time.After(29 * time.Second)
		go func() { require.Equal(fx, wire.Ping, c.frame().Kind); c.closed() }()
		<-time.After(31*time.Second + 6*time.Second + 1)
		_, err := fx.dial(fx.Context(), remote.Config{Session: "silent"})
		require.NoError(fx, err, "the name is free again")
	})
}

// All clients lose their connections at once. Their dials must not come at the same time, the
// gate must take no more than its rate, and all must be back within a few seconds.
func TestFault41AHerdComesBackSpreadOut(t *testing.T) {
	const clients, rate = 500, 200
	inBubble(t, native.Config{Grace: time.Hour, Rate: rate}, func(fx *fixture) {
		network := &freezable{}
		dial := network.through(fx.port.dial)
		var all []space.Repository
		for n := range clients {
			c, err := fx.dial(fx.Context(), remote.Config{Session: fmt.Sprint("client-", n), TTL: time.Minute, Dial: dial})
			require.NoError(fx, err)
			all = append(all, space.Over(c))
		}
		fx.shut()
		<-time.After(10 * time.Second)
		network.reset()
		began := time.Now()
		fx.serve()
		for _, r := range all {
			require.NoError(fx, r.Space("s").Put(fx.Context(), a(1), 0))
		}
		require.LessOrEqual(fx, time.Since(began), 6*time.Second)
		dialled, in := network.seen(began)
		for tick, n := range perTick(dialled, 20*time.Millisecond) {
			require.Less(fx, n, clients/4, "dials at %s", tick)
		}
		for tick, n := range perTick(in, time.Second) {
			require.LessOrEqual(fx, n, rate+rate/10+1, "taken at %s", tick)
		}
		require.GreaterOrEqual(fx, len(in), clients)
		for _, r := range all { // while the gate is open
			require.NoError(fx, r.Close(fx.Context()))
		}
	})
}

// perTick counts the times in each tick.
func perTick(ago []time.Duration, tick time.Duration) map[time.Duration]int {
	counts := map[time.Duration]int{}
	for _, d := range ago {
		counts[d.Truncate(tick)]++
	}
	return counts
}

// Two calls that waited when the coordinator stopped are answered by the next one, over the same
// journal, although their numbers are old then.
func TestARestartOfTheCoordinatorIsOnlyADelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		fx := &fixture{T: t}
		coordinator := func() (stop func()) {
			e, err := engine.Open(t.Context(), engine.Config{Journal: j, Procedures: spacetest.Procedures(), Log: quiet, Grace: 6 * time.Second})
			require.NoError(t, err)
			halt := start(t, e.Run)
			fx.engine = e
			fx.openGate(native.Config{})
			return func() { fx.shut(); halt() }
		}
		stop := coordinator()
		c, err := fx.dial(t.Context(), remote.Config{Session: "steady", TTL: time.Minute})
		require.NoError(t, err)
		casual, err := fx.dial(t.Context(), remote.Config{Session: "casual"})
		require.NoError(t, err)
		repo := space.Over(c)
		require.NoError(t, repo.Create(t.Context(), "s", space.Options{}))
		require.NoError(t, repo.Create(t.Context(), "log", space.Options{}))

		got := make(chan tuple.Tuple, 2)
		for _, f := range []func() (tuple.Tuple, error){
			func() (tuple.Tuple, error) { return repo.Space("s").Get(t.Context(), anyA) },
			func() (tuple.Tuple, error) {
				return repo.Call(t.Context(), space.OpID{}, "test.move", tuple.New("b", "s", "log"))
			},
		} {
			go func() {
				u, err := f()
				if err != nil {
					t.Error(err)
				}
				got <- u
			}()
		}
		synctest.Wait()
		for range 3 * space.Window { // the blocked calls are old by then
			_, err := repo.Call(t.Context(), space.OpID{}, "test.token", nil)
			require.NoError(t, err)
		}
		stop()
		<-time.After(30 * time.Second)
		defer coordinator()()
		require.NoError(t, repo.Space("s").Put(t.Context(), a(1), 0))
		require.NoError(t, repo.Space("s").Put(t.Context(), tuple.New("b", int64(2)), 0))
		require.ElementsMatch(t, []tuple.Tuple{a(1), tuple.New("b", int64(2))}, []tuple.Tuple{<-got, <-got})
		_, _, err = space.Over(casual).Space("s").GetP(t.Context(), anyA)
		require.NoError(t, err, "a session without a TTL has the grace to come back")
		require.NoError(t, space.Over(casual).Close(t.Context()))
		require.NoError(t, repo.Close(t.Context()))
	})
}

func TestMessagesArriveOnceAndInOrderOverCutConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newCutter(1, 600)
		fx, conns := fixtureWithCuts(t, s, 1)
		admin := space.Over(fx.session("teller", 0))
		for n := range 50 {
			_, err := admin.Call(t.Context(), space.OpID{}, "test.tell", tuple.New("client-0", int64(n)))
			require.NoError(t, err)
			if n%5 == 0 {
				synctest.Wait()
			}
		}
		for n := range 50 {
			m, err := space.Over(conns[0]).Receive(t.Context())
			require.NoError(t, err)
			require.Equal(t, int64(n), m.Int64(1))
		}
		require.Positive(t, s.stop())
	})
}
