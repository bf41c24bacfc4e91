package cmd

import (
	"fmt"
	"math/rand/v2"

	"github.com/spf13/cobra"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
)

// newTupRun is `leasehold tup4fun run`.
func (a *app) newTupRun() *cobra.Command {
	var seed uint64
	var steps int
	var choices []int
	c := &cobra.Command{
		Use:   "run MODEL",
		Short: "run a model once, with chosen or random steps",
		Long: `Run a model once. --choose selects the first steps by their numbers, from 0, in
the list of possible steps at the end of the output; later steps are random. The
same seed gives the same run.`,
		Example: "  leasehold tup4fun run philosophers.tup --choose 0,1 --steps 2",
		Args:    cobra.ExactArgs(1),
	}
	model := bindModel(c)
	format := bindTraceFormat(c)
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of the random steps")
	c.Flags().IntVar(&steps, "steps", 100, "maximum number of steps")
	c.Flags().IntSliceVar(&choices, "choose", nil, "numbers of the first steps, separated by commas")
	c.RunE = func(_ *cobra.Command, args []string) error {
		if steps < 0 {
			return usagef("--steps must not be negative")
		}
		m, err := model.load(args[0])
		if err != nil {
			return err
		}
		r := explore.NewRun(m)
		end, err := takeSteps(r, steps, choices, rand.New(rand.NewPCG(seed, seed)))
		if err != nil {
			return err
		}
		if err := a.showTrace(r.Trace(), *format, args[0]); err != nil {
			return err
		}
		if *format == asText {
			fmt.Fprintln(a.out, end)
		}
		return nil
	}
	return c
}

// takeSteps takes the chosen steps, then random ones, at most steps of them together, and returns how the run
// ended, as text. A step that fails is such an end; an impossible choice is a usage error.
func takeSteps(r *explore.Run, steps int, choices []int, random *rand.Rand) (string, error) {
	for i := 0; ; i++ {
		can, err := r.Choices()
		switch {
		case err != nil:
			return "stuck: " + err.Error(), nil
		case len(can) == 0 && r.Terminated():
			return "terminated", nil
		case len(can) == 0:
			return "stuck: no step is possible", nil
		case i == steps:
			return "extendable; possible next steps:\n" + draw.Choices(can), nil
		}
		k := random.IntN(len(can))
		if i < len(choices) {
			k = choices[i]
		}
		if !r.Take(k) {
			return "", usagef("--choose: step %d: want 0 to %d, got %d:\n%s", i+1, len(can)-1, k, draw.Choices(can))
		}
	}
}
