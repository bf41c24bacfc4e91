package native_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"leasehold/coordinator/gate/native"
	"leasehold/shared/space"
	"leasehold/shared/space/remote"
	"leasehold/shared/space/spacetest"
	"leasehold/shared/tuple"
)

// cutter cuts connections at random bytes, chosen by its seed.
type cutter struct {
	mu   sync.Mutex // guards what follows
	rand *rand.Rand
	most int // bytes until a cut, in either direction; 0: none any more
	cuts int
}

func newCutter(seed uint64, most int) *cutter {
	return &cutter{rand: rand.New(rand.NewPCG(seed, 7)), most: most}
}

// stop stops the cutting, and returns how many cuts there were.
func (s *cutter) stop() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = 0
	return s.cuts
}

// through returns a dial whose connections are cut.
func (s *cutter) through(dial func(context.Context, string) (net.Conn, error)) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, address string) (net.Conn, error) {
		c, err := dial(ctx, address)
		if err != nil {
			return nil, err
		}
		return &cutConn{Conn: c, cutter: s, reads: s.span(), writes: s.span()}, nil
	}
}

// span is how many bytes pass before a cut.
func (s *cutter) span() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most == 0 {
		return 1 << 40
	}
	return s.rand.IntN(s.most)
}

// cut counts a connection that was cut, and returns the error of its user.
func (s *cutter) cut() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cuts++
	return net.ErrClosed
}

// cutConn is a connection that breaks after a number of bytes, in the middle of a read or
// write; the bytes before get through.
type cutConn struct {
	net.Conn
	cutter        *cutter
	reads, writes int
}

// Read cuts the connection once as many bytes were read as the cutter allows.
func (c *cutConn) Read(b []byte) (int, error) {
	if c.reads <= 0 {
		_ = c.Close()
		return 0, c.cutter.cut()
	}
	n, err := c.Conn.Read(b[:min(len(b), c.reads)])
	c.reads -= n
	return n, err
}

// Write cuts the connection once as many bytes were written as the cutter allows, also within a
// frame.
func (c *cutConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b[:min(len(b), c.writes)])
	c.writes -= n
	if err == nil && n < len(b) {
		_ = c.Close()
		err = c.cutter.cut()
	}
	return n, err
}

// fixtureWithCuts returns a fixture and sessions whose connections are cut.
func fixtureWithCuts(t *testing.T, s *cutter, sessions int) (*fixture, []*remote.Conn) {
	fx := newFixture(t, spacetest.Procedures(), native.Config{Grace: time.Hour})
	require.NoError(t, space.Over(fx.session("admin", 0)).Create(t.Context(), "s", space.Options{}))
	var conns []*remote.Conn
	for n := range sessions {
		c, err := fx.dial(t.Context(), remote.Config{Session: fmt.Sprint("client-", n), Dial: s.through(fx.port.dial)})
		require.NoError(t, err)
		conns = append(conns, c)
	}
	return fx, conns
}

// Answers are lost and requested again, and no operation happens twice.
func TestFault26EachTupleThatWasPutIsGotExactlyOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { exactlyOnce(t, seed) })
		})
	}
}

// exactlyOnce puts tuples over connections that are cut at random, and gets them by calls that
// partly give up. Each tuple must be got or still be there, once.
func exactlyOnce(t *testing.T, seed uint64) {
	const each, clients = 60, 4
	s := newCutter(seed, 3000)
	_, conns := fixtureWithCuts(t, s, clients)
	var mu sync.Mutex
	got := map[int64]int{}
	var running sync.WaitGroup
	for n, c := range conns {
		repo := space.Over(c)
		running.Go(func() {
			for i := range each {
				var err error
				if u := tuple.New("a", int64(n*each+i)); i%2 == 0 {
					err = repo.Space("s").Put(t.Context(), u, 0)
				} else {
					_, err = repo.Call(t.Context(), space.OpID{}, "test.put", tuple.New("s", u, int64(0), "", false))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
		running.Go(func() {
			for range each {
				// Some gets give up now and then, which must lose no tuple.
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+n)*20*time.Millisecond)
				u, err := repo.Space("s").Get(ctx, tuple.Match("a", tuple.AnyInt64))
				cancel()
				if err != nil {
					continue
				}
				mu.Lock()
				got[u.Int64(1)]++
				mu.Unlock()
			}
		})
	}
	running.Wait()
	require.Positive(t, s.stop())
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		u, err := space.Over(conns[0]).Space("s").Get(ctx, tuple.Match("a", tuple.AnyInt64))
		cancel()
		if err != nil {
			break
		}
		got[u.Int64(1)]++
	}
	require.Len(t, got, each*clients, "none is lost")
	for n, times := range got {
		require.Equal(t, 1, times, "tuple %d", n)
	}
}

// step is one operation of a history.
type step struct {
	verb  string
	key   string
	value int64 // put, or found; 0: nothing
}

// queueModel is a sequential space: for each key a queue.
var queueModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		parts := map[string][]porcupine.Operation{}
		for _, o := range history {
			key := o.Input.(step).key
			parts[key] = append(parts[key], o)
		}
		var all [][]porcupine.Operation
		for _, p := range parts {
			all = append(all, p)
		}
		return all
	},
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		queue, in, found := state.(string), input.(step), output.(int64)
		var first int64
		rest := queue
		if queue != "" {
			_, _ = fmt.Sscanf(queue, "%d", &first)
			rest = queue[len(fmt.Sprintf("%d ", first)):]
		}
		switch in.verb {
		case "put":
			return true, queue + fmt.Sprintf("%d ", in.value)
		case "get":
			return found == first, rest
		default:
			return found == first, queue
		}
	},
}

func TestConcurrentHistoriesOverCutConnectionsAreLinearizable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				history := record(t, seed)
				require.True(t, porcupine.CheckOperations(queueModel, history))
			})
		})
	}
}

// record lets clients put, get and query at random, and returns what they saw.
func record(t *testing.T, seed uint64) []porcupine.Operation {
	s := newCutter(seed, 2000)
	_, conns := fixtureWithCuts(t, s, 4)
	var mu sync.Mutex
	var history []porcupine.Operation
	var clock int64
	now := func() int64 { mu.Lock(); defer mu.Unlock(); clock++; return clock }
	var running sync.WaitGroup
	for n, c := range conns {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		running.Go(func() {
			for i := range 60 {
				in := step{verb: []string{"put", "get", "query"}[random.IntN(3)], key: fmt.Sprint(random.IntN(3)), value: int64(n*1000 + i + 1)}
				called := now()
				found, err := in.do(t.Context(), space.Over(c).Space("s"))
				if err != nil {
					t.Error(err)
				}
				returned := now()
				mu.Lock()
				history = append(history, porcupine.Operation{ClientId: n, Input: in, Call: called, Output: found, Return: returned})
				mu.Unlock()
			}
		})
	}
	running.Wait()
	require.Positive(t, s.stop())
	return history
}

// do carries out the step in a space, and returns the value that it found; 0 if it found none.
func (in step) do(ctx context.Context, s space.Space) (found int64, err error) {
	var u tuple.Tuple
	switch p := tuple.Match(in.key, tuple.AnyInt64); in.verb {
	case "put":
		return 0, s.Put(ctx, tuple.New(in.key, in.value), 0)
	case "get":
		u, _, err = s.GetP(ctx, p)
	default:
		u, _, err = s.QueryP(ctx, p)
	}
	return u.Int64(1), err
}
