package chaos

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// goods is traffic of tuples that are put once and got once, by clients some of
// which give up, repeat themselves or die.
type goods struct {
	mu    sync.Mutex // guards what follows
	next  int64
	items map[int64]*item
}

const goodsSpace = "goods"

// item is what the clients know of one tuple.
type item struct {
	producer int
	put      bool // its put was answered; else it may have happened
	got      int  // times that a get had it for certain
	perhaps  bool // a get had it whose client died
}

func newGoods() *goods { return &goods{items: map[int64]*item{}} }

func (g *goods) anew(producer int) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next++
	g.items[g.next] = &item{producer: producer}
	return g.next
}

func (g *goods) note(id int64, f func(*item)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(g.items[id])
}

var anyGood = tuple.Match("good", tuple.AnyInt64, tuple.AnyInt64)

// produce puts one tuple after the other: plainly, with an operation id that is
// used again, or with little patience.
func (g *goods) produce(ctx context.Context, c *client, n int, r *rand.Rand) error {
	for i := uint64(1); ctx.Err() == nil; i++ {
		id := g.anew(n)
		put := space.Request{Verb: space.VerbPut, Space: goodsSpace, Tuple: tuple.New("good", int64(n), id)}
		call, repeat, cancel := context.Background(), 1, func() {}
		switch r.IntN(4) {
		case 0:
			put.Op, repeat = space.OpID{Session: c.Session(), Seq: i}, 1+r.IntN(4)
		case 1:
			call, cancel = context.WithTimeout(call, time.Duration(r.IntN(20))*time.Millisecond)
		}
		for range repeat {
			_, err := c.conn.Do(call, put)
			switch {
			case err == nil:
				g.note(id, func(x *item) { x.put = true })
			case !errors.Is(err, context.DeadlineExceeded):
				cancel()
				return err
			}
		}
		cancel()
	}
	return nil
}

// consume gets one tuple after the other, with little patience, until its session
// ends: in order, or not.
func (g *goods) consume(ctx context.Context, c *client, _ int, r *rand.Rand) error {
	var mine []int64
	for range 1 + r.IntN(200) {
		if ctx.Err() != nil {
			break
		}
		call, cancel := context.WithTimeout(context.Background(), time.Duration(1+r.IntN(100))*time.Millisecond)
		u, err := c.Space(goodsSpace).Get(call, anyGood)
		cancel()
		switch {
		case err == nil:
			mine = append(mine, u.Int64(2))
		case !errors.Is(err, context.DeadlineExceeded):
			g.got(mine, false)
			return err
		}
	}
	if r.IntN(3) == 0 {
		c.abandon()
		g.got(mine, false)
		return nil
	}
	err := c.close()
	g.got(mine, err == nil)
	return err
}

// got notes what a session had when it ended; what was not confirmed may come back.
func (g *goods) got(ids []int64, confirmed bool) {
	for _, id := range ids {
		g.note(id, func(x *item) {
			if confirmed {
				x.got++
			} else {
				x.perhaps = true
			}
		})
	}
}

// check empties the space, once everybody has ended.
func (g *goods) check(t *testing.T, c *client) {
	t.Helper()
	last := map[int64]int64{}
	left := 0
	for {
		u, ok, err := c.Space(goodsSpace).GetP(within(t), anyGood)
		require.NoError(t, err)
		if !ok {
			break
		}
		left++
		producer, id := u.Int64(1), u.Int64(2)
		if g.items[id].put { // else it may have been overtaken by the next one
			require.Greater(t, id, last[producer], "the order in which they were put is kept")
			last[producer] = id
		}
		g.items[id].got++
	}
	acknowledged := 0
	for id, x := range g.items {
		require.LessOrEqual(t, x.got, 1, "tuple %d was got twice: %+v", id, x)
		if x.put {
			acknowledged++
			require.True(t, x.got == 1 || x.perhaps, "tuple %d, whose put was acknowledged, is lost: %+v", id, x)
		}
	}
	t.Logf("goods: %d put, %d of them acknowledged, %d left at the end", len(g.items), acknowledged, left)
	require.Positive(t, acknowledged)
}

// closed says that a session has ended, which an actor survives.
func closed(err error) bool { return errors.Is(err, fault.ErrClosed) }
