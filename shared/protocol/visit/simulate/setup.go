package simulate

import (
	"fmt"

	"leasehold/shared/fault"
	"leasehold/shared/protocol/visit/policy"
)

// Setup describes one run.
type Setup struct {
	Scenario Scenario
	Policy   string // one of policy.Names, or KnownRates
	Rules    policy.Rules
	OfKinds  string // rules of kinds and of all, as policy.ParsePlan takes them, in scenarios with kinds; Rules has no effect there
	Origins  int
	Days     int
	Seed     uint64
	Capacity float64 // visits per day of all origins; 0: the scenario's
	Claim    int     // slots of a claim, spread over each tick; 0: the scenario's
}

// Check returns fault.ErrInvalid if a number is out of range. It does not check the
// scenario, the policy and the rules; Run does.
func (s Setup) Check() error {
	if s.Origins < 1 || s.Origins > maxOrigins || s.Days < 1 || s.Days > maxDays || !(s.Capacity >= 0 && s.Capacity <= 1e9) || s.Claim < 0 {
		return fmt.Errorf("%d origins, %d days, capacity %v, claims of %d: %w: want 1 to %d, 1 to %d, 0 to 10^9, and 0 or more",
			s.Origins, s.Days, s.Capacity, s.Claim, fault.ErrInvalid, maxOrigins, maxDays)
	}
	return nil
}

// KnownRates is the name of the reference that knows the true rates.
const KnownRates = "known-rates"

// The limits of Setup.
const (
	maxOrigins = 10_000_000
	maxDays    = 36_500
)

// setRules sets the rules of all origins and of kinds, and the plan.
func (r *run) setRules() (err error) {
	name, kinds := r.Setup.Policy, (*policy.Plan)(nil)
	if name == KnownRates {
		name = policy.Names[0]
	}
	if len(r.Kinds) > 0 {
		if kinds, err = policy.ParsePlan(name, r.OfKinds); err != nil {
			return err
		}
		r.tick, r.rules = kindTick, kinds.Rules("")
		r.counts.Types = map[string]policy.TypeCounts{}
		for _, k := range r.Kinds {
			r.kindRules = append(r.kindRules, kinds.Rules(k.Kind))
		}
	}
	if r.policy = kinds; kinds == nil || r.Setup.Policy == KnownRates {
		r.policy, err = r.plan()
	}
	return err
}

// plan returns the plan of the setup's policy without kinds, or of the reference: claims divide their slots by it, as
// those of the store do.
func (r *run) plan() (*policy.Plan, error) {
	if r.Setup.Policy != KnownRates {
		return policy.Uniform(r.Setup.Policy, r.rules)
	}
	reference := optimal{policy.Value{Rules: r.rules}, r.origins, 0}
	if r.Changes == "bursts" {
		reference.burst = r.BurstSize
	}
	return policy.Single(reference, r.rules), r.rules.Check()
}

// capacity returns the visits per day of all origins of the setup: the first number set. Need counts the changes
// of the drawn origins, which may be fewer, and scales them.
func (w *world) capacity(s Setup) float64 {
	switch {
	case s.Capacity > 0:
		return s.Capacity
	case w.CapacityDay > 0:
		return w.CapacityDay
	case w.Need > 0:
		changes := 0.0
		for i := range w.origins {
			changes += w.origins[i].rate
		}
		return min(w.Need*changes*float64(s.Origins)/float64(len(w.origins)), 1e9)
	}
	return w.Scenario.Capacity * float64(s.Origins)
}

// limits returns the freshness values with which results of the setup are compared. They are computed from at
// most limitOrigins origins, with as much less capacity.
func (s Setup) limits() (limits, error) {
	if err := s.Scenario.Check(); err != nil {
		return limits{}, fmt.Errorf("scenario %s: %w", s.Scenario.Name, err)
	}
	if err := s.Check(); err != nil {
		return limits{}, err
	}
	if n := len(s.Scenario.Recorded); n > 0 {
		s.Origins = n
	}
	w := newWorld(s.Scenario, s.Origins, limitOrigins, s.Seed, start+int64(s.Days)*day)
	return limitsOf(w, w.capacity(s)*float64(len(w.origins))/float64(s.Origins)), nil
}

const limitOrigins = 20_000
