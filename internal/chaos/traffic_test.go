//go:build linux

package chaos

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/api/types"
	"leasehold/shared/space"
)

// traffic is many concurrent sessions at one coordinator, with all kinds of work.
type traffic struct {
	t         *testing.T
	h         *fixture
	seed      uint64
	registers registers
	tuples    *tuples
	grants    *grants
	workload  *workload

	stop    context.CancelFunc // ends each client after its current step
	gone    context.Context    // done when clients must stop waiting for a coordinator
	cutAll  context.CancelFunc
	running sync.WaitGroup
}

// Session TTLs.
const (
	longTTL     = 30 * time.Minute
	shortTTL    = 2 * time.Second
	loadSafeTTL = 5 * time.Second // is lost after it is abandoned, but not under load
)

// clientFunc runs one session. It returns nil when the session or ctx has ended.
type clientFunc func(ctx context.Context, c *session, n int, r *rand.Rand) error

// startTraffic starts clients that run until stopTraffic.
func startTraffic(t *testing.T, h *fixture, seed uint64) *traffic {
	t.Helper()
	x := &traffic{t: t, h: h, seed: seed, tuples: newTuples(), grants: newGrants(), workload: newWorkload()}
	setup := h.mustDial("setup", longTTL)
	for _, name := range []string{registerSpace, tuplesSpace} {
		require.NoError(t, setup.Create(within(t), name, space.Options{}))
	}
	require.NoError(t, setup.close())
	ctx, stop := context.WithCancel(t.Context())
	x.stop = stop
	x.gone, x.cutAll = context.WithCancel(context.Background())
	n := 0
	start := func(name string, times int, ttl time.Duration, serves map[string]int, run clientFunc) {
		for range times {
			n++
			number := n
			x.running.Go(func() { x.runSessions(ctx, name, number, ttl, serves, run) })
		}
	}
	start("register", 3, longTTL, nil, x.registers.act)
	start("grant", 2, longTTL, nil, x.grants.act)
	start("producer", 2, longTTL, nil, x.tuples.produce)
	// A session that is lost while it is closed would count as closed. A take-over may last longer than shortTTL.
	start("consumer", 3, cmp.Or(h.consumerTTL, shortTTL), nil, x.tuples.consume)
	start("manager", 2, shortTTL, nil, x.workload.runManager)
	start("worker", 3, shortTTL, map[string]int{dig: 1}, x.workload.runWorker)
	return x
}

// runSessions runs one session after the other.
func (x *traffic) runSessions(ctx context.Context, name string, n int, ttl time.Duration, serves map[string]int, run clientFunc) {
	r := rand.New(rand.NewPCG(x.seed, uint64(n)))
	for ctx.Err() == nil {
		c, err := x.h.dial(ctx, name, ttl, serves)
		if err != nil {
			if ctx.Err() == nil {
				x.t.Errorf("%s: %v", name, err)
			}
			return
		}
		stay := context.AfterFunc(x.gone, func() { c.wire.cut(errSessionLost) })
		err = run(ctx, c, n, r)
		stay()
		c.abandon()
		late := errors.Is(err, context.DeadlineExceeded) // the close timed out, because no coordinator ran
		if err != nil && (!closed(err) && !late || ttl == longTTL) {
			x.t.Errorf("%s %s: %v", name, c.Session(), err)
			return
		}
	}
}

// stopTraffic ends the traffic. The coordinator must run, unless the test has failed.
func (x *traffic) stopTraffic() {
	x.stop()
	if x.t.Failed() {
		x.cutAll()
	}
	x.running.Wait()
	x.cutAll()
}

// check completes the work that was begun, and compares the answers to the clients with
// the content of the spaces.
func (x *traffic) check() {
	x.t.Helper()
	x.workload.finish(x.t, x.h)
	c := x.h.mustDial("check", longTTL)
	api := x.h.api()
	defer api.Close()
	// Tuples that a get took, and that were not acknowledged, come back with the end of their session.
	binary.Eventually(x.t, "what those had who were abandoned is back", func() bool {
		all, err := api.Sessions(within(x.t))
		consumes := func(s types.OpenSession) bool { return strings.HasPrefix(s.ID, "consumer-") }
		return err == nil && !slices.ContainsFunc(all, consumes) && c.held(x.t, tuplesSpace) == 0
	})
	x.registers.check(x.t)
	x.tuples.check(x.t, c)
	x.workload.check(x.t, c)
	x.grants.check(x.t, c, x.workload.issued, x.workload.issued+x.workload.perhaps)
}
