package simulate

import (
	"context"
	"sync"
)

// Compare plays each policy through each world, and beside them the bound; results
// come in the order scenario, seed, policy, the bound first. emit is called for each
// as soon as it and all before it are known; an error of it ends the comparison.
// workers worlds are played at a time.
func Compare(ctx context.Context, base Setup, scenarios []Scenario, policies []string, seeds []uint64, workers int, emit func(Result) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var setups []Setup
	for _, s := range scenarios {
		for _, seed := range seeds {
			for _, p := range append([]string{Bound}, policies...) {
				one := base
				one.Scenario, one.Seed, one.Policy = s, seed, p
				setups = append(setups, one)
			}
		}
	}
	played := play(ctx, setups, workers)
	defer played.wait()
	defer cancel()
	bound := 0.0
	for i := range setups {
		r, err := played.result(i)
		if err != nil {
			return err
		}
		if r.Policy == Bound {
			bound = r.Freshness
		}
		if bound > 0 {
			r.OfBound = r.Freshness / bound
		}
		if err := emit(r); err != nil {
			return err
		}
	}
	return nil
}

// matches are runs under way.
type matches struct {
	slots   []chan outcome
	running sync.WaitGroup
}

type outcome struct {
	result Result
	err    error
}

func play(ctx context.Context, setups []Setup, workers int) *matches {
	m := &matches{slots: make([]chan outcome, len(setups))}
	todo := make(chan int, len(setups))
	for i := range setups {
		m.slots[i] = make(chan outcome, 1)
		todo <- i
	}
	close(todo)
	for range max(workers, 1) {
		m.running.Go(func() {
			for i := range todo {
				r, err := Run(ctx, setups[i])
				m.slots[i] <- outcome{r, err}
			}
		})
	}
	return m
}

func (m *matches) result(i int) (Result, error) {
	o := <-m.slots[i]
	return o.result, o.err
}

func (m *matches) wait() { m.running.Wait() }
