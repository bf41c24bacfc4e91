//go:build linux

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

// tuples is traffic of tuples that are put once and got once. Some of its clients give
// up, repeat requests or die.
type tuples struct {
	mu    sync.Mutex // guards the fields below
	next  int64
	items map[int64]*item
}

const tuplesSpace = "tuples"

// item is what the clients know about one tuple.
type item struct {
	producer int
	put      bool // its put was answered; otherwise it may have happened
	got      int  // confirmed gets
	perhaps  bool // a client that got it died before the confirmation
}

func newTuples() *tuples { return &tuples{items: map[int64]*item{}} }

func (g *tuples) addItem(producer int) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.next++
	g.items[g.next] = &item{producer: producer}
	return g.next
}

func (g *tuples) note(id int64, f func(*item)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(g.items[id])
}

var anyItem = tuple.Match("item", tuple.AnyInt64, tuple.AnyInt64)

// produce puts tuples: plainly, with a repeated operation id, or with a short timeout.
func (g *tuples) produce(ctx context.Context, c *session, n int, r *rand.Rand) error {
	for i := uint64(1); ctx.Err() == nil; i++ {
		id := g.addItem(n)
		put := space.Request{Verb: space.VerbPut, Space: tuplesSpace, Tuple: tuple.New("item", int64(n), id)}
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

// consume gets tuples with a short timeout, until its session is closed or abandoned.
func (g *tuples) consume(ctx context.Context, c *session, _ int, r *rand.Rand) error {
	var mine []int64
	for range 1 + r.IntN(200) {
		if ctx.Err() != nil {
			break
		}
		call, cancel := context.WithTimeout(context.Background(), time.Duration(1+r.IntN(100))*time.Millisecond)
		u, err := c.Space(tuplesSpace).Get(call, anyItem)
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

// got records the tuples that a session got. Unconfirmed ones may be returned to the
// space.
func (g *tuples) got(ids []int64, confirmed bool) {
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

// check empties the space after all clients have ended.
func (g *tuples) check(t *testing.T, c *session) {
	t.Helper()
	last := map[int64]int64{}
	left := 0
	for {
		u, ok, err := c.Space(tuplesSpace).GetP(within(t), anyItem)
		require.NoError(t, err)
		if !ok {
			break
		}
		left++
		producer, id := u.Int64(1), u.Int64(2)
		if g.items[id].put { // an unacknowledged put may be overtaken by the next one
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
	t.Logf("tuples: %d put, %d of them acknowledged, %d left at the end", len(g.items), acknowledged, left)
	require.Positive(t, acknowledged)
}

// closed reports whether err only means that the session has ended, which is expected.
func closed(err error) bool { return errors.Is(err, fault.ErrClosed) }
