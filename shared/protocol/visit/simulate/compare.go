package simulate

import (
	"context"
	"slices"
	"sync"
)

// Compare runs each policy, and the reference KnownRates, in each scenario with each seed;
// workers runs at a time. It calls emit for each result in the order scenario, seed, policy
// (KnownRates first), as soon as all results of the scenario and seed are there. Compare ends
// with the first error of a run, of emit or of ctx: it cancels the runs under way and waits for
// its goroutines.
func Compare(ctx context.Context, base Setup, scenarios []Scenario, policies []string, seeds []uint64, workers int, emit func(Result) error) error {
	var setups []Setup
	for _, s := range scenarios {
		for _, seed := range seeds {
			for _, p := range append([]string{KnownRates}, policies...) {
				setup := base
				setup.Scenario, setup.Seed, setup.Policy = s, seed, p
				setups = append(setups, setup)
			}
		}
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
				outcomes[i] <- runOne(ctx, setups[i])
			}
		})
	}
	for inWorld := range slices.Chunk(outcomes, 1+len(policies)) {
		group := make([]Result, len(inWorld))
		known := limits{}
		for i, c := range inWorld {
			o := <-c
			if o.err != nil {
				return o.err
			}
			group[i] = o.result
			if i == 0 {
				known = o.limits
			}
		}
		fillComparisons(group, known)
		for _, r := range group {
			if err := emit(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// outcome is the end of one run.
type outcome struct {
	result Result
	limits limits // only with the reference
	err    error
}

// runOne makes one run and, for the policy KnownRates, which is the reference of its world,
// computes the limits too, once per world. The error is in the outcome.
func runOne(ctx context.Context, s Setup) (o outcome) {
	if o.result, o.err = Run(ctx, s); o.err == nil && s.Policy == KnownRates {
		o.limits, o.err = s.limits()
	}
	return o
}

// fillComparisons fills in the fields that compare the results of one world. The first is the
// reference, so it is not compared as a policy. A share whose whole is 0 stays 0. The best of the
// others is sought without the reference too.
func fillComparisons(group []Result, known limits) {
	for i := range group {
		r := &group[i]
		r.Optimum, r.Clairvoyant = known.optimum, known.clairvoyant
		if group[0].Freshness > 0 {
			r.OfBound = r.Freshness / group[0].Freshness
		}
		if known.optimum > 0 {
			r.OfOptimum = r.Steady / known.optimum
		}
		best := 0.0
		for j := 1; j < len(group); j++ {
			if j != i {
				best = max(best, group[j].Freshness)
			}
		}
		if best > 0 {
			r.OfBest = r.Freshness / best
		}
	}
}
