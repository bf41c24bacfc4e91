package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/shared/protocol/visit/policy"
	"leasehold/shared/protocol/visit/simulate"
)

// simulation is the flags of `leasehold visits simulate`.
type simulation struct {
	scenario, plot    string
	rules             string
	policies, require []string
	seeds             []uint
	setup             simulate.Setup
}

// newVisitsSimulate is `leasehold visits simulate`.
func (a *app) newVisitsSimulate() *cobra.Command {
	s := simulation{setup: simulate.Setup{Rules: policy.DefaultRules()}}
	c := &cobra.Command{
		Use:   "simulate",
		Short: "simulate and compare policies",
		Long: `Simulate policies in scenarios, and compare them with each other and with a
policy that knows how often each origin changes (known-rates). A scenario is one
of S1 to S23 (docs/visits.md describes them), a range such as S1..S8, or a JSON
file, which visits replay --world can write. Separate scenarios by commas. It
needs no coordinator.

With several seeds, the table and the plot show means; the freshness relative to
the best other policy also has its 95 % confidence interval and its minimum over
the seeds. The other formats show each seed.

--require makes the command fail unless the first policy meets a condition in
each scenario, in the mean of the seeds: fresh>=0.97*known-rates, of_best>=1,
lag<=1*swh2026. mean(fresh)>=1.05*swh2026 compares the means of all scenarios.`,
		Args: cobra.NoArgs,
	}
	o := bindOutput(c)
	f := c.Flags()
	f.StringVar(&s.scenario, "scenario", "S1..S8", "S1 to S23, ranges of them, or files, separated by commas")
	f.StringSliceVar(&s.policies, "policy", []string{"value", "swh2026"}, "policies: "+strings.Join(policy.Names, ", "))
	f.IntVar(&s.setup.Origins, "origins", 4000, "number of origins")
	f.IntVar(&s.setup.Days, "days", 365, "number of days")
	f.UintSliceVar(&s.seeds, "seed", []uint{1}, "seeds, separated by commas")
	f.Float64Var(&s.setup.Capacity, "capacity", 0, "visits a day; 0 is the scenario's share of its origins")
	f.IntVar(&s.setup.Claim, "claim", 0, "visits of a claim; 0 gives out the slots of six hours at once")
	f.StringVar(&s.rules, "rules", "", "rules that differ from the defaults, in the form of --visit-rules")
	f.StringArrayVar(&s.require, "require", nil, "condition that the first policy must meet")
	f.StringVar(&s.plot, "plot", "", "SVG file to draw the comparison to")
	c.RunE = func(c *cobra.Command, _ []string) error { return a.simulate(c.Context(), o, s) }
	return c
}

// simulate checks all flags, compares the policies, prints the results and draws the plot. The
// error joins the requirements that are not met; wrong flags are usage errors, before anything is
// simulated.
func (a *app) simulate(ctx context.Context, o *output, s simulation) error {
	scenarios, err := simulate.ByName(s.scenario)
	if err != nil {
		return usagef("%s", err)
	}
	if len(s.policies) == 0 || len(s.seeds) == 0 {
		return usagef("--policy and --seed need at least one value each")
	}
	if slices.ContainsFunc(scenarios, func(s simulate.Scenario) bool { return len(s.Kinds) > 0 }) {
		plan, err := policy.ParsePlan(policy.Names[0], s.rules)
		if err != nil {
			return usagef("%s", err)
		}
		s.setup.Rules, s.setup.OfKinds = plan.Rules(""), s.rules
	} else if s.setup.Rules, err = policy.ParseRules(s.rules); err != nil {
		return usagef("%s", err)
	}
	if err := s.setup.Check(); err != nil {
		return usagef("%s", err)
	}
	var requirements []simulate.Requirement
	for _, text := range s.require {
		q, err := simulate.ParseRequirement(text)
		if err == nil {
			err = q.CheckReference(s.policies)
		}
		if err != nil {
			return usagef("%s", err)
		}
		requirements = append(requirements, q)
	}
	for _, p := range s.policies {
		if _, err := policy.New(p, s.setup.Rules); err != nil {
			return usagef("%s", err)
		}
	}
	if err := checkWritable(s.plot); err != nil {
		return usagef("plot: %s", err)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(simulationMemory)
	}
	results, err := a.compare(ctx, o, s, scenarios)
	if err != nil {
		return err
	}
	if s.plot != "" {
		if err := os.WriteFile(s.plot, simulate.Plot(results), 0o644); err != nil {
			return fmt.Errorf("plot: %w", err)
		}
	}
	var broken []error
	for _, q := range requirements {
		broken = append(broken, q.Check(results, s.policies[0]))
	}
	return errors.Join(broken...)
}

// simulationMemory is the size of the heap from which on garbage is collected more often.
// Two runs of 10^6 origins need less than that.
const simulationMemory = 1300 << 20

// checkWritable returns an error if path cannot be written, because that should be known before a long
// simulation. It changes nothing: a file that it has to create is removed. An empty path needs no
// file.
func checkWritable(path string) error {
	if path == "" {
		return nil
	}
	_, statErr := os.Stat(path)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	if errors.Is(statErr, os.ErrNotExist) {
		return errors.Join(f.Close(), os.Remove(path))
	}
	return f.Close()
}

// compare simulates and prints the results: in a table the means of the seeds, otherwise each
// seed; lines of JSON are printed as soon as each is known. It returns the results of each seed
// in all cases; with an error, those before it.
func (a *app) compare(ctx context.Context, o *output, s simulation, scenarios []simulate.Scenario) ([]simulate.Result, error) {
	var seeds []uint64
	for _, seed := range s.seeds {
		seeds = append(seeds, uint64(seed))
	}
	var results []simulate.Result
	err := simulate.Compare(ctx, s.setup, scenarios, s.policies, seeds, runtime.GOMAXPROCS(0), func(r simulate.Result) error {
		results = append(results, r)
		if o.form == asLines {
			return a.printJSON(r)
		}
		return nil
	})
	if err != nil || o.form == asLines {
		return results, err
	}
	shown := results
	if !o.structured() {
		shown = simulate.Means(results)
	}
	return results, show(a, o, rowsOf(shown, func(r simulate.Result) resultRow { return resultRow{r} }), "no results")
}

// resultRow is a result of the simulator as a row.
type resultRow struct{ simulate.Result }

func (r resultRow) columns() []column {
	number := func(x float64) string { return fmt.Sprintf("%.2f", x) }
	percent := func(x float64) string {
		if x == 0 {
			return ""
		}
		return fmt.Sprintf("%.1f %%", 100*x)
	}
	ofBest := percent(r.OfBest)
	if r.OfBestMin > 0 {
		ofBest = fmt.Sprintf("%.1f ± %.1f %%", 100*r.OfBest, 100*r.OfBestPM)
	}
	return []column{
		{head: "scenario", cell: r.Scenario}, {head: "policy", cell: r.Policy}, {head: "fresh", cell: percent(r.Freshness)},
		{head: "of best other", cell: ofBest}, {head: "least", cell: percent(r.OfBestMin)},
		{head: "of known rates", cell: percent(r.OfBound)}, {head: "of optimum", cell: percent(r.OfOptimum)}, {head: "clairvoyant", cell: percent(r.Clairvoyant)},
		{head: "lag d", cell: number(r.LagDays)},
		{head: "delay d p50", cell: number(r.DelayP50)}, {head: "p95", cell: number(r.DelayP95)}, {head: "p99", cell: number(r.DelayP99)},
		{head: "useless", cell: percent(r.Useless)}, {head: "dead", cell: percent(r.Dead)}, {head: "first d", cell: number(r.FirstVisit)},
		{head: "first p95", cell: number(r.FirstP95)}, {head: "never", cell: strconv.Itoa(r.Never)}, {head: "lost", cell: strconv.Itoa(r.Lost)},
		{head: "slots used", cell: percent(float64(r.Visits) / float64(max(r.Slots, 1)))}, {head: "size", cell: number(r.Size)},
	}
}
