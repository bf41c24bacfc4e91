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
		Short: "run a model once: as chosen, then at random",
		Long: `Run a model once. Where several steps can be taken, the first so many are those that
--choose says (from 0, in the order in which the last lines list them), and then one is drawn; the same
seed draws the same.`,
		Example: "  leasehold tup4fun run philosophers.tup --choose 0,1 --steps 2",
		Args:    cobra.ExactArgs(1),
	}
	model := bindModel(c)
	format := bindTraceFormat(c)
	c.Flags().Uint64Var(&seed, "seed", 1, "of the random choices")
	c.Flags().IntVar(&steps, "steps", 100, "take at most so many steps")
	c.Flags().IntSliceVar(&choices, "choose", nil, "which step to take, one number for each")
	c.RunE = func(_ *cobra.Command, args []string) error {
		if steps < 0 {
			return usagef("--steps must not be negative")
		}
		m, err := model.load(args[0])
		if err != nil {
			return err
		}
		r := explore.NewRun(m)
		end, err := take(r, steps, choices, rand.New(rand.NewPCG(seed, seed)))
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

// take takes steps, and says how it has ended.
func take(r *explore.Run, steps int, choices []int, random *rand.Rand) (string, error) {
	for i := 0; ; i++ {
		can, err := r.Choices()
		switch {
		case err != nil:
			return "stuck: " + err.Error(), nil
		case len(can) == 0 && r.Terminated():
			return "terminated", nil
		case len(can) == 0:
			return "stuck: nothing can be done", nil
		case i == steps:
			return "extendable: next may be\n" + draw.Choices(can), nil
		}
		k := random.IntN(len(can))
		if i < len(choices) {
			k = choices[i]
		}
		if !r.Take(k) {
			return "", usagef("--choose: step %d may be 0 to %d, not %d:\n%s", i+1, len(can)-1, k, draw.Choices(can))
		}
	}
}
