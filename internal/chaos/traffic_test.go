package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/space"
)

// traffic is many sessions at one coordinator, with all kinds of work.
type traffic struct {
	t         *testing.T
	h         *house
	seed      uint64
	registers registers
	goods     *goods
	grants    *grants
	labour    *labour

	stop    context.CancelFunc // begin nothing new
	gone    context.Context    // ends what waits for a coordinator
	leave   context.CancelFunc
	running sync.WaitGroup
}

// How long a session may be silent: one that must survive whatever happens, and
// one that may be abandoned.
const (
	survives = 30 * time.Minute
	passes   = 2 * time.Second
	noticed  = 5 * time.Second // one that is lost once it is abandoned, and not before
)

// part is what one session after the other does. It returns nil when its session
// has ended, or ctx.
type part func(ctx context.Context, c *client, n int, r *rand.Rand) error

// startTraffic sends traffic until halt.
func startTraffic(t *testing.T, h *house, seed uint64) *traffic {
	t.Helper()
	x := &traffic{t: t, h: h, seed: seed, goods: newGoods(), grants: newGrants(), labour: newLabour()}
	setup := h.mustDial("setup", survives)
	for _, name := range []string{registerSpace, goodsSpace} {
		require.NoError(t, setup.Create(within(t), name, space.Options{}))
	}
	require.NoError(t, setup.close())
	ctx, stop := context.WithCancel(t.Context())
	x.stop = stop
	x.gone, x.leave = context.WithCancel(context.Background())
	n := 0
	cast := func(name string, times int, ttl time.Duration, serves map[string]int, p part) {
		for range times {
			n++
			number := n
			x.running.Go(func() { x.play(ctx, name, number, ttl, serves, p) })
		}
	}
	cast("register", 3, survives, nil, x.registers.act)
	cast("grant", 2, survives, nil, x.grants.act)
	cast("producer", 2, survives, nil, x.goods.produce)
	cast("consumer", 3, passes, nil, x.goods.consume)
	cast("manager", 2, passes, nil, x.labour.manage)
	cast("worker", 3, passes, map[string]int{dig: 1}, x.labour.toil)
	return x
}

// play plays a part with one session after the other.
func (x *traffic) play(ctx context.Context, name string, n int, ttl time.Duration, serves map[string]int, p part) {
	r := rand.New(rand.NewPCG(x.seed, uint64(n)))
	for ctx.Err() == nil {
		c, err := x.h.dial(ctx, name, ttl, serves)
		if err != nil {
			if ctx.Err() == nil {
				x.t.Errorf("%s: %v", name, err)
			}
			return
		}
		stay := context.AfterFunc(x.gone, func() { c.wire.cut(errGone) })
		err = p(ctx, c, n, r)
		stay()
		c.abandon()
		late := errors.Is(err, context.DeadlineExceeded) // to close: the coordinator was away for too long
		if err != nil && (!closed(err) && !late || ttl == survives) {
			x.t.Errorf("%s %s: %v", name, c.Session(), err)
			return
		}
	}
}

// halt ends the traffic. The coordinator must be there, unless the test has failed.
func (x *traffic) halt() {
	x.stop()
	if x.t.Failed() {
		x.leave()
	}
	x.running.Wait()
	x.leave()
}

// check lets what was begun come to its end, and then compares what the clients
// were told with what is there.
func (x *traffic) check() {
	x.t.Helper()
	x.labour.finish(x.t, x.h)
	c := x.h.mustDial("check", survives)
	eventually(x.t, "what those had who were abandoned is back", func() bool { return c.held(x.t, goodsSpace) == 0 })
	x.registers.check(x.t)
	x.goods.check(x.t, c)
	x.labour.check(x.t, c)
	x.grants.check(x.t, c, x.labour.issued, x.labour.issued+x.labour.perhaps)
}
