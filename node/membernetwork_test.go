package node

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/pgserver"
	"leasehold/shared/protocol/lease"
	"leasehold/shared/protocol/status"
	"leasehold/shared/protocol/task"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/tuple"
	"leasehold/worker"
)

// Rows 34, 35, 36 and 41 of the catalogue of faults with coordinators that share a realm of PostgreSQL. They run in real
// time, so they require what happens, and not how fast.

// couple is two coordinators of one realm. The first one serves.
type couple struct {
	network // without an engine
	members [2]*running
}

// newCouple starts two coordinators, and a session of the test. A session is lost after lost.
func newCouple(t *testing.T, lost time.Duration) *couple {
	t.Helper()
	c := &couple{network: network{T: t}}
	url := pgserver.Database(t)
	for i, role := range []string{"ok\n", "standby\n"} {
		cfg := memberConfig(t, url)
		cfg.SessionLost, cfg.SessionMaxTTL, cfg.ReleaseBackoff, cfg.MaxAttempts = lost, longest, 100*time.Millisecond, 1000
		cfg.QuotaExempt = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.members[i] = startMember(t, cfg)
		c.members[i].cfg.Listen, c.members[i].cfg.HTTP = c.members[i].at.Gate, c.members[i].at.HTTP // for the next start
		c.members[i].waitReady(role)
	}
	conn, err := remote.Dial(t.Context(), remote.Config{Address: c.gates(), Session: "network", TTL: longest, Log: discard})
	require.NoError(t, err)
	c.repo = space.Over(conn)
	t.Cleanup(func() { _ = c.repo.Close(context.Background()) })
	return c
}

// gates returns the addresses of both gates.
func (c *couple) gates() string { return c.members[0].at.Gate + "," + c.members[1].at.Gate }

// takeOver stops the coordinator that serves, and starts it again when the other one serves.
func (c *couple) takeOver() {
	c.Helper()
	c.members[0].stop()
	c.members[1].waitReady("ok\n")
	again := startMember(c.T, c.members[0].cfg)
	again.cfg = c.members[0].cfg
	c.members = [2]*running{c.members[1], again}
	again.waitReady("standby\n")
}

// start starts a worker over w; end ends it.
func (c *couple) start(w *faultyNetwork, name string, lost time.Duration, h worker.Handler) (end func()) {
	connect := func(ctx context.Context) (space.Repository, error) {
		conn, err := remote.Dial(ctx, remote.Config{Address: c.gates(), Session: remote.SessionID(name), Mode: "worker", TTL: lost, Dial: w.over(overTCP), Log: discard})
		if err != nil {
			return nil, err
		}
		return space.Over(conn), nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- worker.Run(ctx, connect, worker.Config{Handlers: map[string]worker.Handler{"act": h}, Slots: 1, Heartbeat: lost / 5, Drain: 100 * time.Millisecond, Grace: 10 * time.Second, Log: discard})
	}()
	return func() {
		cancel()
		<-ended // its good-bye may get lost
		w.reset()
	}
}

func overTCP(ctx context.Context, address string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

// eventually waits until a condition is true.
func (c *couple) eventually(what string, is func() bool) {
	c.Helper()
	require.Eventually(c, is, 3*time.Minute, 20*time.Millisecond, what)
}

// holders counts the tasks that workers with such a name hold.
func (c *couple) holders(name string) (n int) {
	claims, err := c.repo.Space(lease.Space).QueryAll(c.Context(), task.AnyClaim())
	require.NoError(c, err)
	for _, claim := range claims {
		if strings.HasPrefix(task.DecodeClaim(claim).Worker, name) {
			n++
		}
	}
	return n
}

// live counts the workers with such a name that have a session.
func (c *couple) live(name string) (n int) {
	all, err := c.repo.Space(status.Space).QueryAll(c.Context(), status.AnyState())
	require.NoError(c, err)
	for _, s := range all {
		if strings.HasPrefix(status.DecodeState(s).ID, name) {
			n++
		}
	}
	return n
}

// Row 34: as in fake time, at the same time, and then once more with a coordinator that takes over when the workers are
// cut off.
func TestFault34PartitionedWorkersOfARealmLoseTheirTasksToOthers(t *testing.T) {
	t.Parallel()
	const lost = 2 * time.Second
	c := newCouple(t, lost)
	cuts := []func(w *faultyNetwork){
		func(w *faultyNetwork) { w.set(&w.mute[up], true); w.set(&w.mute[down], true) },
		func(w *faultyNetwork) { w.set(&w.mute[up], true) },
		func(w *faultyNetwork) { w.set(&w.mute[down], true) },
		func(w *faultyNetwork) { w.set(&w.closed, true); w.reset() },
	}
	networks := make([]*faultyNetwork, len(cuts))
	for i := range cuts {
		networks[i] = &faultyNetwork{}
		defer c.start(networks[i], "cut", lost, forever)()
	}
	c.create(len(cuts))
	for _, also := range []func(){func() {}, c.takeOver} {
		c.eventually("the workers have the tasks", func() bool { return c.holders("cut") == len(cuts) })
		var ends []func()
		for range cuts {
			ends = append(ends, c.start(&faultyNetwork{}, "good", lost, forever))
		}
		for i, cut := range cuts {
			cut(networks[i])
		}
		also()
		c.eventually("the workers are lost", func() bool { return c.live("cut") == 0 })
		c.eventually("others have the tasks", func() bool { return c.holders("good") == len(cuts) })
		for _, w := range networks {
			w.set(&w.closed, false)
			w.set(&w.mute[up], false)
			w.set(&w.mute[down], false)
		}
		c.eventually("the workers are back", func() bool { return c.live("cut") == len(cuts) })
		for _, end := range ends { // they hand the tasks back
			end()
		}
	}
}

// Row 35: latency, jitter, one byte at a time and resets, and take-overs meanwhile.
func TestFault35OverABadNetworkAndTakeOversAllTasksFinishAndNothingHappensTwice(t *testing.T) {
	t.Parallel()
	const tasks, workers = 40, 6
	c := newCouple(t, 5*time.Second)
	w := &faultyNetwork{latency: 30 * time.Millisecond, jitter: 60 * time.Millisecond, segment: 1, resets: 30, rand: rand.New(rand.NewPCG(44, 35))}
	for i := range workers {
		defer c.start(w, fmt.Sprint("worker", i), 5*time.Second, quick)()
	}
	c.create(tasks / 2)
	for at := range 2 {
		c.eventually("work has begun", func() bool { return len(c.results()) > at*tasks/2 })
		c.takeOver()
		c.create(tasks / 4)
	}
	c.eventually("all is done", func() bool { return c.remaining() == 0 })
	c.requireEachOnce(tasks)
	require.Positive(t, w.resetCount())
}

// Row 36: clients that send nothing, or one byte, at all ports of both coordinators. They are closed, and keep neither
// clients nor a take-over from going on.
func TestFault36SlowClientsOfARealmAreClosed(t *testing.T) {
	t.Parallel()
	const each = 400
	c := newCouple(t, 5*time.Second)
	require.NoError(t, c.repo.Create(t.Context(), "s", space.Options{}))
	var slow sync.WaitGroup
	connect := func() {
		for _, m := range c.members {
			for n := range 2 * each {
				conn, err := overTCP(t.Context(), []string{m.at.Gate, m.at.HTTP}[n%2])
				require.NoError(t, err)
				if n%4 < 2 {
					_, err = io.WriteString(conn, []string{"L", "G"}[n%2])
					require.NoError(t, err)
				}
				slow.Go(func() {
					_, _ = io.Copy(io.Discard, conn) // until the coordinator closes it
					_ = conn.Close()
				})
			}
		}
	}
	put := func() { require.NoError(t, c.repo.Space("s").Put(t.Context(), tuple.New("a"), 0)) }
	connect()
	put()
	c.members[1].waitReady("standby\n")
	c.takeOver()
	put()
	connect()
	put()
	closed := make(chan struct{})
	go func() { slow.Wait(); close(closed) }()
	c.eventually("they are closed", func() bool {
		select {
		case <-closed:
			return true
		default:
			return false
		}
	})
	put()
}

// Row 41: 500 workers lose their connections at once, by a take-over and by a restart. All keep their sessions, and their
// dials are spread out and few.
func TestFault41AHerdComesBackAfterATakeOverAndARestart(t *testing.T) {
	t.Parallel()
	const workers = 500
	c := newCouple(t, 5*time.Second)
	require.NoError(t, c.repo.Create(t.Context(), "s", space.Options{}))
	var mu sync.Mutex // guards dials
	var dials []time.Time
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		mu.Lock()
		dials = append(dials, time.Now())
		mu.Unlock()
		return overTCP(ctx, address)
	}
	var herd [workers]*remote.Conn
	for n := range herd {
		conn, err := remote.Dial(t.Context(), remote.Config{Address: c.gates(), Mode: "worker", Session: fmt.Sprint("worker-", n), TTL: longest, Dial: dial, Log: discard})
		require.NoError(t, err)
		herd[n] = conn
		defer func() { _ = space.Over(conn).Close(context.Background()) }()
	}
	for _, end := range []struct {
		name string
		do   func()
	}{{"take-over", c.takeOver}, {"restart", c.restart}} {
		mu.Lock()
		dials = nil
		mu.Unlock()
		began := time.Now()
		end.do()
		var all sync.WaitGroup
		for n, conn := range herd {
			all.Go(func() {
				if err := space.Over(conn).Space("s").Put(context.Background(), tuple.New(end.name), 0); err != nil {
					t.Error(end.name, err)
				}
				if conn.Session() != fmt.Sprint("worker-", n) {
					t.Error("it has another session", conn.Session())
				}
			})
		}
		all.Wait()
		took := time.Since(began)
		n, err := c.repo.Space("s").Count(t.Context(), tuple.Match(end.name))
		require.NoError(t, err)
		require.Equal(t, workers, n)
		mu.Lock()
		slices.SortFunc(dials, time.Time.Compare)
		t.Logf("%s: %d dials, within %s of %s", end.name, len(dials), dials[len(dials)-1].Sub(dials[0]), took)
		require.Greater(t, dials[len(dials)-1].Sub(dials[0]), 50*time.Millisecond, "they are spread out")
		require.Less(t, len(dials), workers*(20+10*int(took/time.Second)), "they back off")
		mu.Unlock()
	}
}

// restart stops both coordinators, and starts the one that served last.
func (c *couple) restart() {
	c.Helper()
	for _, m := range []*running{c.members[1], c.members[0]} {
		m.stop()
	}
	again := startMember(c.T, c.members[0].cfg)
	again.waitReady("ok\n")
}
