//go:build linux

package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"leasehold/internal/binary"
	"leasehold/shared/space"
	"leasehold/shared/tuple"
)

// registers is traffic that puts, gets, queries and counts under few keys. Its sessions survive every crash, so
// every call is answered, and the history of each key must be one of a queue.
type registers struct {
	mu      sync.Mutex // guards the field below
	history []porcupine.Operation
}

const registerSpace = "registers"

// begun is the zero of the times in histories. It is monotonic, because the wall clock
// may be changed.
var begun = time.Now()

// step is one operation of a history.
type step struct {
	verb  string
	key   string
	value int64 // of a put
}

// keyLife is the number of operations of one client after which a new key is used,
// because the check of a long history takes too long.
const keyLife = 40

func (g *registers) act(ctx context.Context, c *session, n int, r *rand.Rand) error {
	s := c.Space(registerSpace)
	now := func() int64 { return int64(time.Since(begun)) }
	for i := int64(1); ctx.Err() == nil; i++ {
		in := step{
			verb:  []string{"put", "put", "get", "get", "query", "count"}[r.IntN(6)],
			key:   fmt.Sprintf("%d-%d", i/keyLife, r.IntN(3)),
			value: i*10 + int64(n),
		}
		called := now()
		found, err := in.do(s)
		if err != nil {
			return err
		}
		g.note(porcupine.Operation{ClientId: n, Input: in, Call: called, Output: found, Return: now()})
	}
	return nil
}

func (g *registers) note(o porcupine.Operation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.history = append(g.history, o)
}

// do executes a step. It waits for the answer without a limit.
func (in step) do(s space.Space) (found int64, err error) {
	ctx := context.Background()
	p := tuple.Match(in.key, tuple.AnyInt64)
	var u tuple.Tuple
	switch in.verb {
	case "put":
		return 0, s.Put(ctx, tuple.New(in.key, in.value), 0)
	case "get":
		u, _, err = s.GetP(ctx, p)
	case "query":
		u, _, err = s.QueryP(ctx, p)
	case "count":
		n, err := s.Count(ctx, p)
		return int64(n), err
	}
	return u.Int64(1), err
}

// queues is the sequential model of a space: a queue for each key. The state lists the
// values, oldest first.
var queues = porcupine.Model{
	Partition: byKey,
	Init:      func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		queue, in, found := state.(string), input.(step), output.(int64)
		oldest, rest, _ := strings.Cut(queue, " ")
		var first int64
		_, _ = fmt.Sscan(oldest, &first) // an empty queue has no first value, so first stays 0
		switch in.verb {
		case "put":
			return true, queue + fmt.Sprint(in.value) + " "
		case "get":
			return found == first, rest
		case "count":
			return found == int64(strings.Count(queue, " ")), queue
		default:
			return found == first, queue
		}
	},
}

func byKey(history []porcupine.Operation) [][]porcupine.Operation {
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
}

func (g *registers) check(t *testing.T) {
	t.Helper()
	t.Logf("registers: %d operations", len(g.history))
	require.NotEmpty(t, g.history)
	require.Equal(t, porcupine.Ok, porcupine.CheckOperationsTimeout(queues, g.history, binary.WaitLimit+*timeFlag), "the history is linearizable")
}
