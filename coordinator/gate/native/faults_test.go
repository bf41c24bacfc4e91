package native_test

import (
	"context"
	"fmt"
	"net"
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

// Row 30: killed before its get is served, while it is, and before it could say
// that the answer arrived.
func TestFault30WhatWasGotByAClientThatDiesIsBack(t *testing.T) {
	for name, dies := range map[string]func(c *raw, put func()){
		"before":   func(c *raw, put func()) { _ = c.Close(); put() },
		"while":    func(c *raw, put func()) { put(); _ = c.Close() },
		"after":    func(c *raw, put func()) { put(); c.frame(); _ = c.Close() },
		"silently": func(c *raw, put func()) { put(); c.frame() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, native.Config{}, func(h *house) {
				s := space.Over(h.session("putter", 0)).Space("s")
				c := h.hello("victim", 6*time.Second)
				c.request(1, space.Request{Verb: space.VerbGet, Space: "s", Template: anyA, Ack: true, Op: space.OpID{Session: "victim", Seq: space.AutoSeq + 1}})
				synctest.Wait()
				dies(c, func() { require.NoError(h, s.Put(h.Context(), a(1), 0)); synctest.Wait() })
				n, err := s.Count(h.Context(), anyA)
				require.NoError(h, err)
				require.Zero(h, n, "it is the victim's until its session is lost")
				<-time.After(6 * time.Second)
				u, err := s.Get(h.Context(), anyA)
				require.NoError(h, err)
				require.Equal(h, int64(1), u.Int64(1))
			})
		})
	}
}

// ice is a network that can freeze: nothing gets through, and nobody is told.
type ice struct {
	mu     sync.Mutex
	frozen bool
	dials  []time.Time // attempts
	in     []time.Time // of them, those that were taken
}

// reset forgets who dialled.
func (i *ice) reset() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.dials, i.in = nil, nil
}

// seen returns when somebody dialled, and was taken, since then.
func (i *ice) seen(since time.Time) (dials, in []time.Duration) {
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

func (i *ice) freeze(yes bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.frozen = yes
}

func (i *ice) is() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.frozen
}

func (i *ice) through(dial func(context.Context, string) (net.Conn, error)) func(context.Context, string) (net.Conn, error) {
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
		return &iced{c, i}, err
	}
}

type iced struct {
	net.Conn
	ice *ice
}

func (c *iced) Write(b []byte) (int, error) {
	if c.ice.is() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func TestFault34AHalfOpenConnectionIsFoundAndReplaced(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		network := &ice{}
		c, err := h.dial(h.Context(), remote.Config{Session: "far", TTL: 6 * time.Second, Dial: network.through(h.port.dial)})
		require.NoError(h, err)
		repo := space.Over(c)
		beat := func() {
			_, err := repo.Call(h.Context(), space.OpID{}, "test.beat", nil)
			require.NoError(h, err)
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
		require.Greater(h, len(dials), 1)
		require.NoError(h, repo.Space("s").Put(h.Context(), a(1), 0))

		freeze(20 * time.Second)
		_, err = repo.Space("s").Get(h.Context(), tuple.Match("b"))
		require.ErrorIs(h, err, fault.ErrClosed, "now it was away for too long")
	})
}

func TestFault34ASilentClientIsLost(t *testing.T) {
	bubble(t, native.Config{}, func(h *house) {
		c := h.hello("silent", 0)
		<-time.After(29 * time.Second)
		go func() { require.Equal(h, wire.Ping, c.frame().Kind); c.closed() }()
		<-time.After(31*time.Second + 6*time.Second + 1)
		_, err := h.dial(h.Context(), remote.Config{Session: "silent"})
		require.NoError(h, err, "the name is free again")
	})
}

func TestFault41AHerdComesBackSpreadOut(t *testing.T) {
	const clients, rate = 500, 200
	bubble(t, native.Config{Grace: time.Hour, Rate: rate}, func(h *house) {
		network := &ice{}
		dial := network.through(h.port.dial)
		var all []space.Repository
		for n := range clients {
			c, err := h.dial(h.Context(), remote.Config{Session: fmt.Sprint("client-", n), TTL: time.Minute, Dial: dial})
			require.NoError(h, err)
			all = append(all, space.Over(c))
		}
		h.shut()
		<-time.After(10 * time.Second)
		network.reset()
		began := time.Now()
		h.serve()
		for _, r := range all {
			require.NoError(h, r.Space("s").Put(h.Context(), a(1), 0))
		}
		require.LessOrEqual(h, time.Since(began), 6*time.Second)
		dialled, in := network.seen(began)
		for tick, n := range perTick(dialled, 20*time.Millisecond) {
			require.Less(h, n, clients/4, "dials at %s", tick)
		}
		for tick, n := range perTick(in, time.Second) {
			require.LessOrEqual(h, n, rate+rate/10+1, "taken at %s", tick)
		}
		require.GreaterOrEqual(h, len(in), clients)
		for _, r := range all { // while there is a gate to hear it
			require.NoError(h, r.Close(h.Context()))
		}
	})
}

// perTick counts how much of what happened fell into each tick.
func perTick(ago []time.Duration, tick time.Duration) map[time.Duration]int {
	counts := map[time.Duration]int{}
	for _, d := range ago {
		counts[d.Truncate(tick)]++
	}
	return counts
}

func TestARestartOfTheCoordinatorIsOnlyADelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		h := &house{T: t}
		coordinator := func() (stop func()) {
			e, err := engine.Open(t.Context(), engine.Config{Journal: j, Procedures: spacetest.Procedures(), Log: quiet})
			require.NoError(t, err)
			halt := start(t, e.Run)
			h.engine = e
			h.openGate(native.Config{})
			return func() { h.shut(); halt() }
		}
		stop := coordinator()
		c, err := h.dial(t.Context(), remote.Config{Session: "steady", TTL: time.Minute})
		require.NoError(t, err)
		casual, err := h.dial(t.Context(), remote.Config{Session: "casual"})
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
		require.ErrorIs(t, err, fault.ErrClosed, "a session without a TTL does not outlive the coordinator")
		require.NoError(t, repo.Close(t.Context()))
	})
}

func TestMessagesArriveOnceAndInOrderOverCutConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSaw(1, 600)
		h, conns := sawnHouse(t, s, 1)
		admin := space.Over(h.session("teller", 0))
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
		require.Positive(t, s.dull())
	})
}
