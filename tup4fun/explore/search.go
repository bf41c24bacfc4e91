package explore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// counts is what a search has counted. All of it is independent of the number of
// cores.
type counts struct {
	states, transitions, stuck, terminated, errors int64
}

func (c *counts) add(d counts) {
	c.states += d.states
	c.transitions += d.transitions
	c.stuck += d.stuck
	c.terminated += d.terminated
	c.errors += d.errors
}

// A finding is a state that violates a property, or in which a step has no
// meaning. Of those that are equally near, the one with the least print counts.
type finding struct {
	level int
	state []uint32
	print uint64
	err   *RuntimeError
}

// search explores all states, breadth first, level by level.
type search struct {
	m       *Model
	o       Options
	t       *tables
	st      *store
	workers []*worker
	total   counts // of the levels that are complete
	level   int
	found   []*finding // by property; the last is for errors
	most    []int      // tuples seen in each space
	fullest []fullest  // where that was
	look    []int      // how many of them call for lookForGrowth

	unbounded []bool // it is proved that a space is
	over      atomic.Bool
	mu        sync.Mutex // guards reason
	reason    string
	began     time.Time

	graph       *Graph // for properties of runs, once it is built
	graphReason string // why it is not whole
}

func newSearch(m *Model, o Options) *search {
	s := &search{m: m, o: o, t: newTables(), began: time.Now()}
	s.st = newStore(m.width(), o.Compact, o.Cores)
	s.found = make([]*finding, len(m.props)+1)
	s.most, s.fullest, s.unbounded = make([]int, len(m.Spaces)), make([]fullest, len(m.Spaces)), make([]bool, len(m.Spaces))
	s.look = m.looks(o)
	for range o.Cores {
		s.workers = append(s.workers, newWorker(s))
	}
	return s
}

// run explores until there is nothing new, a bound is reached or ctx is done. If
// stop is not negative it stops after that level.
func (s *search) run(ctx context.Context, stop int) {
	w := s.workers[0]
	w.see(w.x.initial())
	w.flush()
	for {
		for _, w := range s.workers {
			s.total.add(counts{states: w.fresh})
			w.fresh = 0
		}
		pieces := s.st.endLevel(s.level)
		if len(pieces) == 0 || s.level == stop {
			return
		}
		s.explore(ctx, pieces)
		for _, w := range s.workers {
			s.merge(w)
		}
		if s.over.Load() {
			return
		}
		for _, w := range s.workers {
			s.total.add(w.n)
			w.n = counts{}
		}
		if s.lookForGrowth(ctx); s.over.Load() {
			return
		}
		s.level++
	}
}

// small is how many bytes of states one goroutine does alone.
const small = 2048

// explore expands the states of one level.
func (s *search) explore(ctx context.Context, pieces [][]byte) {
	var next atomic.Int64
	work := func(w *worker) {
		defer s.checkBounds(ctx)
		defer w.flush()
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
	if size < small || len(s.workers) == 1 {
		work(s.workers[0])
		return
	}
	var all sync.WaitGroup
	for _, w := range s.workers {
		all.Go(func() { work(w) })
	}
	all.Wait()
}

// checkBounds ends the search if it has become too large.
func (s *search) checkBounds(ctx context.Context) {
	var fresh, memory int64
	for _, w := range s.workers {
		fresh += atomic.LoadInt64(&w.fresh)
	}
	switch {
	case ctx.Err() != nil:
		s.stop("it was interrupted")
	case s.o.Time > 0 && time.Since(s.began) > s.o.Time:
		s.stop(fmt.Sprintf("the time is over (%s)", s.o.Time))
	case s.total.states+fresh > s.o.States:
		s.stop(fmt.Sprintf("there are more than %d states", s.o.States))
	default:
		if memory = s.st.bytes() + s.t.bytes(); memory > s.o.Memory {
			s.stop(fmt.Sprintf("more than %d MiB of memory would be needed", s.o.Memory>>20))
		}
	}
}

// stop ends the search; the first reason counts.
func (s *search) stop(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over.Swap(true) {
		s.reason = reason
	}
}

// merge takes over what a worker has found on this level.
func (s *search) merge(w *worker) {
	for i, f := range w.found {
		if f != nil && (s.found[i] == nil || s.found[i].level == f.level && f.print < s.found[i].print) {
			s.found[i] = f
		}
	}
	for i, n := range w.most {
		if n > s.most[i] || n == s.most[i] && s.fullest[i].level == s.level && w.fullest[i].print < s.fullest[i].print {
			s.most[i], s.fullest[i] = n, w.fullest[i]
		}
	}
}
