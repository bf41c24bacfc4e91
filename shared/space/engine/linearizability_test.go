package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
	"leasehold/shared/space"
	"leasehold/shared/space/engine"
	"leasehold/shared/space/journal"
	"leasehold/shared/tuple"
)

// seen is one operation of a history, on one key of one space.
type seen struct {
	verb       space.Verb
	space, key string
	value      int64 // of the put tuple
}

// queues is a sequential space: for each space and key a queue of numbers.
var queues = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		by := map[string][]porcupine.Operation{}
		for _, o := range history {
			in := o.Input.(seen)
			by[in.space+in.key] = append(by[in.space+in.key], o)
		}
		for _, part := range by {
			parts = append(parts, part)
		}
		return parts
	},
	Init:  func() any { return []int64(nil) },
	Equal: func(a, b any) bool { return slices.Equal(a.([]int64), b.([]int64)) },
	Step: func(state, input, output any) (bool, any) {
		queue, in, found := state.([]int64), input.(seen), output.(int64)
		switch {
		case in.verb == space.VerbPut:
			return true, append(slices.Clone(queue), in.value)
		case len(queue) == 0:
			return found == 0, queue
		case in.verb == space.VerbGetP:
			return found == queue[0], queue[1:]
		}
		return found == queue[0], queue
	},
}

// flaky makes about a quarter of the commits fail, in every way that does not break the
// journal, from the call of begin on.
func flaky(m *journal.Memory, random *rand.Rand) (begin func()) {
	var begun atomic.Bool
	fails := func(errs ...error) func(context.Context, []journal.Record) error {
		return func(context.Context, []journal.Record) error {
			if n := random.IntN(12); begun.Load() && n < len(errs) {
				return errs[n]
			}
			return nil
		}
	}
	m.Before, m.After = fails(errDisk, journal.ErrFull), fails(errDisk)
	return func() { begun.Store(true) }
}

// Four clients repeat operations whose commits fail or have an unknown outcome. What they saw
// must be explained by one order of all operations, in which each happens once.
func TestConcurrentHistoriesOverAFlakyJournalAreLinearizable(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			m := &journal.Memory{}
			begin := flaky(m, rand.New(rand.NewPCG(seed, 99)))
			e := run(t, engine.Config{Journal: m})
			opened(t, e)
			begin()
			var clock atomic.Int64
			histories := make([][]porcupine.Operation, 4)
			var running sync.WaitGroup
			for n := range histories {
				c := connected(t, e, fmt.Sprint("client-", n))
				random := rand.New(rand.NewPCG(seed, uint64(n)))
				running.Go(func() {
					for i := range 100 {
						in := seen{
							verb:  []space.Verb{space.VerbPut, space.VerbGetP, space.VerbQueryP}[random.IntN(3)],
							space: []string{"s", "log"}[random.IntN(2)], key: []string{"a", "b"}[random.IntN(2)],
							value: int64(n*1000 + i + 1),
						}
						called := clock.Add(1)
						found, err := in.do(c, uint64(i+1))
						if err != nil {
							t.Error(err)
						}
						histories[n] = append(histories[n], porcupine.Operation{ClientId: n, Input: in, Call: called, Output: found, Return: clock.Add(1)})
					}
				})
			}
			running.Wait()
			require.True(t, porcupine.CheckOperations(queues, slices.Concat(histories...)))
		})
	}
}

// connected opens a session, and retries until that succeeds.
func connected(t *testing.T, e *engine.Engine, id string) space.Conn {
	t.Helper()
	for {
		c, err := e.Connect(t.Context(), id, time.Hour)
		if err == nil {
			return c
		}
		require.True(t, repeatable(err), "%v", err)
	}
}

func repeatable(err error) bool {
	return errors.Is(err, fault.ErrUnavailable) || errors.Is(err, fault.ErrOverloaded)
}

// do repeats an operation until it is answered.
func (in seen) do(c space.Conn, n uint64) (found int64, err error) {
	r := space.Request{Verb: in.verb, Op: space.OpID{Session: c.Session(), Seq: n}, Space: in.space}
	if in.verb == space.VerbPut {
		r.Tuple = item(in.key, int(in.value))
	} else {
		r.Template = tuple.Match(in.key, tuple.AnyInt64)
	}
	for {
		reply, err := c.Do(context.Background(), r)
		if err == nil || !repeatable(err) {
			return reply.Tuple.Int64(1), err
		}
	}
}
