package explore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// counts are the counters of a search. They do not depend on the number of cores.
type counts struct {
	states, transitions, stuck, terminated, errors int64
}

// add adds the counts of another part of the search.
func (c *counts) add(d counts) {
	c.states += d.states
	c.transitions += d.transitions
	c.stuck += d.stuck
	c.terminated += d.terminated
	c.errors += d.errors
}

// finding is a state that violates a property or in which a step fails. Among states of
// one level the one with the smallest hash is kept, so that the result does not depend on
// scheduling.
type finding struct {
	level int
	state []uint32
	hash  uint64
	err   *RuntimeError
}

// search explores all states, breadth first, level by level.
type search struct {
	model         *Model
	options       Options
	tables        *tables
	store         *store
	workers       []*worker
	total         counts // of the complete levels
	level         int
	found         []*finding     // by property; the last is for errors
	most          []int          // most tuples in each space
	fullest       []fullestState // a state with most tuples, by space
	growthCheckAt []int          // number of tuples that calls for checkUnboundedGrowth, by space

	unbounded []bool // by space: proved to grow without bound
	over      atomic.Bool
	mu        sync.Mutex // guards reason
	reason    string
	began     time.Time

	graph       *Graph // for properties of runs, built on demand
	graphReason string // the bound that left graph incomplete

	unordered *search // the same without partial-order reduction, for shortest runs; built on demand
}

// newSearch returns a search that has not begun, with one worker for each of o.Cores. found
// has one place more than m has properties: the last is for errors of the program.
func newSearch(m *Model, o Options) *search {
	s := &search{model: m, options: o, tables: newTables(), began: time.Now()}
	s.store = newStore(m.width(), o.Compact, o.Cores)
	s.found = make([]*finding, len(m.props)+1)
	s.most, s.fullest, s.unbounded = make([]int, len(m.Spaces)), make([]fullestState, len(m.Spaces)), make([]bool, len(m.Spaces))
	s.growthCheckAt = m.firstGrowthChecks(o)
	for range o.Cores {
		s.workers = append(s.workers, newWorker(s))
	}
	return s
}

// toTheEnd is the argument of run that explores all states.
func toTheEnd() bool { return false }

// run explores until there are no new states, a bound is reached or ctx is done; for the last
// two, s.over and s.reason tell. It works level by level, so that the result does not depend on the
// number of workers. It asks enough before it expands the states of a level, and ends if that is
// true.
func (s *search) run(ctx context.Context, enough func() bool) {
	w := s.workers[0]
	w.addState(w.expander.initial())
	w.flushStates()
	for {
		for _, w := range s.workers {
			s.total.add(counts{states: w.newStates})
			w.newStates = 0
		}
		pieces := s.store.endLevel(s.level)
		if len(pieces) == 0 || enough() {
			return
		}
		s.explore(ctx, pieces)
		for _, w := range s.workers {
			s.mergeFindings(w)
		}
		if s.over.Load() {
			return
		}
		for _, w := range s.workers {
			s.total.add(w.counts)
			w.counts = counts{}
		}
		if s.checkUnboundedGrowth(ctx); s.over.Load() {
			return
		}
		s.level++
	}
}

// minParallelBytes is the size of a level from which several goroutines explore it.
const minParallelBytes = 2048

// explore expands the encoded states of one level, which may be in several pieces. It returns
// early if a bound is reached. Workers take pieces until none is left; a small level is expanded
// by one, because starting the others takes longer.
func (s *search) explore(ctx context.Context, pieces [][]byte) {
	var next atomic.Int64
	work := func(w *worker) {
		defer s.checkBounds(ctx)
		defer w.flushStates()
		for !s.over.Load() {
			i := int(next.Add(1)) - 1
			if i >= len(pieces) {
				return
			}
			w.expandAll(pieces[i])
			s.checkBounds(ctx)
		}
	}
	size := 0
	for _, p := range pieces {
		size += len(p)
	}
	if size < minParallelBytes || len(s.workers) == 1 {
		work(s.workers[0])
		return
	}
	var all sync.WaitGroup
	for _, w := range s.workers {
		all.Go(func() { work(w) })
	}
	all.Wait()
}

// checkBounds ends the search, with the reason, if ctx is done or a bound of time, states or
// memory is reached.
func (s *search) checkBounds(ctx context.Context) {
	var added, memory int64
	for _, w := range s.workers {
		added += atomic.LoadInt64(&w.newStates)
	}
	switch {
	case ctx.Err() != nil:
		s.stop("interrupted")
	case s.options.Time > 0 && time.Since(s.began) > s.options.Time:
		s.stop(fmt.Sprintf("the time is over (%s)", s.options.Time))
	case s.total.states+added > s.options.States:
		s.stop(fmt.Sprintf("there are more than %d states", s.options.States))
	default:
		memory = s.store.bytes() + s.tables.bytes()
		if memory > s.options.Memory {
			s.stop(fmt.Sprintf("more than %d MiB of memory would be needed", s.options.Memory>>20))
		}
	}
}

// stop ends the search; only the first reason is kept.
func (s *search) stop(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over.Swap(true) {
		s.reason = reason
	}
}

// mergeFindings merges the findings of a worker on this level, and its fullest state of each space.
// A finding or state of an earlier level stays, because its trace is shorter; within a level the
// smallest hash counts, so that the result does not depend on which worker comes first.
func (s *search) mergeFindings(w *worker) {
	for i, f := range w.found {
		if f != nil && (s.found[i] == nil || s.found[i].level == f.level && f.hash < s.found[i].hash) {
			s.found[i] = f
		}
	}
	for i, n := range w.most {
		if n > s.most[i] || n == s.most[i] && s.fullest[i].level == s.level && w.fullest[i].hash < s.fullest[i].hash {
			s.most[i], s.fullest[i] = n, w.fullest[i]
		}
	}
}
