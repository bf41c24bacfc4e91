package simulate

import (
	"context"
	"sync"
)

// Compare runs each policy, and the reference Bound, in each scenario with each seed;
// workers runs at a time. It calls emit for each result in the order scenario, seed,
// policy (Bound first), as soon as the result and all before it are there. Compare
// ends with the first error of a run, of emit or of ctx; it waits for its goroutines.
func Compare(ctx context.Context, base Setup, scenarios []Scenario, policies []string, seeds []uint64, workers int, emit func(Result) error) error {
	var setups []Setup
	for _, s := range scenarios {
		for _, seed := range seeds {
			for _, p := range append([]string{Bound}, policies...) {
				setup := base
				setup.Scenario, setup.Seed, setup.Policy = s, seed, p
				setups = append(setups, setup)
			}
		}
	}
	type outcome struct {
		result Result
		err    error
	}
	outcomes := make([]chan outcome, len(setups)) // buffered, so that no worker blocks
	next := make(chan int, len(setups))
	for i := range setups {
		outcomes[i] = make(chan outcome, 1)
		next <- i
	}
	close(next)
	var pool sync.WaitGroup
	defer pool.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range max(workers, 1) {
		pool.Go(func() {
			for i := range next {
				r, err := Run(ctx, setups[i])
				outcomes[i] <- outcome{r, err}
			}
		})
	}
	bound := 0.0
	for _, c := range outcomes {
		o := <-c
		if o.err != nil {
			return o.err
		}
		if o.result.Policy == Bound {
			bound = o.result.Freshness
		}
		if bound > 0 {
			o.result.OfBound = o.result.Freshness / bound
		}
		if err := emit(o.result); err != nil {
			return err
		}
	}
	return nil
}
