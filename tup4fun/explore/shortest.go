package explore

import (
	"context"
	"fmt"
	"reflect"
	"slices"
)

// trace returns a run to the finding of property i. It is the same for any number of cores. Partial-order
// reduction can leave out all shortest runs, so the search is repeated without it; if a bound ends that,
// the trace is of this search, and not called shortest. The error names the bound that was reached, or
// wraps ctx.Err().
func (s *search) trace(ctx context.Context, i int) (*Trace, error) {
	exact, shortest := s, !s.options.Reduction.Order
	if !shortest {
		if s.unordered == nil {
			s.unordered = s.searchUnordered(ctx)
		}
		if s.unordered.found[i] != nil {
			exact, shortest = s.unordered, true
		}
	}
	if exact.options.Compact {
		exact = s.searchExactly(ctx, i)
	}
	if exact.over.Load() && exact.found[i] == nil {
		return nil, fmt.Errorf("there is no trace: %s", exact.reason)
	}
	f := exact.found[i]
	path := exact.path(ctx, f.level, f.state)
	if path == nil {
		return nil, fmt.Errorf("there is no trace: %w", ctx.Err())
	}
	t := exact.concreteTrace(path)
	t.Shortest, t.Choices = shortest, choices(s.model, t.Steps)
	return t, nil
}

// minUnordered is the number of states that searchUnordered may explore in any case. A larger search may
// explore unorderedFactor times its own states again.
const (
	minUnordered    = 1 << 20
	unorderedFactor = 4
)

// searchUnordered searches again for all violations that s found, without partial-order reduction and
// with an exact store, until each is found or a bound is reached. Bounds of time and memory are for both
// searches together.
func (s *search) searchUnordered(ctx context.Context) *search {
	o := s.options
	o.Reduction.Order, o.Compact = false, false
	o.States = min(o.States, max(minUnordered, unorderedFactor*s.total.states))
	o.Memory -= s.store.bytes()
	again := s.restart(o)
	again.run(ctx, func() bool {
		for i, f := range s.found {
			if f != nil && again.found[i] == nil {
				return false
			}
		}
		return true
	})
	return again
}

// searchExactly searches again with a store that keeps the states, until property i is violated.
func (s *search) searchExactly(ctx context.Context, i int) *search {
	o := s.options
	o.Compact = false
	again := s.restart(o)
	again.run(ctx, func() bool { return again.found[i] != nil })
	return again
}

// restart returns a search with other options that has not begun. It shares the tables, and its time
// began when that of s did.
func (s *search) restart(o Options) *search {
	again := newSearch(s.model, o)
	again.tables, again.began, again.workers = s.tables, s.began, nil
	for range o.Cores {
		again.workers = append(again.workers, newWorker(again))
	}
	return again
}

// way is a run to a state: the step with the number choice, after those of the way before.
type way struct {
	state  []uint32
	choice int
	before *way
}

// choices returns the numbers of steps among those that a Run lists, so that it takes the same run. Equal
// steps may lead to different states: then all of them are followed.
func choices(m *Model, steps []Step) []int {
	x := newExpander(m, newTables(), Reduction{})
	ways := []*way{{state: x.initial()}}
	for _, want := range steps {
		var next []*way
		known := map[string]bool{}
		for _, w := range ways {
			all, _ := x.allSteps(w.state)
			for i, t := range all {
				if key := fmt.Sprint(t.next); !known[key] && reflect.DeepEqual(t.step, want) {
					known[key] = true
					next = append(next, &way{t.next, i, w})
				}
			}
		}
		ways = next
	}
	all := []int{}
	if len(ways) == 0 { // not reached, because the steps are a run
		return all
	}
	for w := ways[0]; w.before != nil; w = w.before {
		all = append(all, w.choice)
	}
	slices.Reverse(all)
	return all
}
