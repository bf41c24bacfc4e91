package cmd

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/promela"
)

// newTupExport is `leasehold tup4fun export`.
func (a *app) newTupExport() *cobra.Command {
	c := &cobra.Command{
		Use:   "export MODEL",
		Short: "print a model in Promela, the language of Spin, or as a drawing",
		Long: `Print a model in Promela, the language of Spin, or its program graphs as a
drawing or JSON. Promela needs to know how many tuples each space can have, so
all states are explored first. The comment at its beginning has the command of
Spin for each property; a property that Spin cannot decide is refused. Without
its reductions (spin -o1 -o2 -a, cc -DNOREDUCE -DSAFETY), Spin counts one state
and two transitions more than check --no-reduction.`,
		Args: cobra.ExactArgs(1),
	}
	model, search := bindModel(c), bindSearch(c)
	format := bindFormat(c, "promela", slices.Concat([]string{"promela"}, draw.Formats))
	c.RunE = func(c *cobra.Command, args []string) error {
		options, err := search.options()
		if err != nil {
			return err
		}
		m, err := model.load(args[0])
		if err != nil {
			return err
		}
		if *format != "promela" {
			return a.showGraph(draw.Program(m), *format)
		}
		options.Reduction.Dead = false // it would hide the largest numbers
		r := explore.Check(c.Context(), m, options)
		if r.Reason != "" {
			return usagef("%s: the maximum number of tuples in its spaces is unknown: %s", args[0], r.Reason)
		}
		text, err := promela.Export(m, promela.SeenIn(r))
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		_, err = fmt.Fprint(a.out, text)
		return err
	}
	return c
}
