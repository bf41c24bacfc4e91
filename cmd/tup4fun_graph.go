package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
)

// newTupGraph is `leasehold tup4fun graph`.
func (a *app) newTupGraph() *cobra.Command {
	var states bool
	c := &cobra.Command{
		Use:   "graph MODEL",
		Short: "print the program graphs of a model, or its state graph",
		Long: `Print the program graphs of a model or, with --state-graph, its state graph:
each state with its variables and tuples, and whether it is stuck or
terminated. A graph that is too large is cut, with a message and exit code 2.`,
		Args: cobra.ExactArgs(1),
	}
	model := bindModel(c)
	format := bindFormat(c, "svg", draw.Formats)
	c.Flags().BoolVar(&states, "state-graph", false, "print the state graph, not the program graphs")
	c.RunE = func(c *cobra.Command, args []string) error {
		m, err := model.load(args[0])
		if err != nil {
			return err
		}
		if !states {
			return a.showGraph(draw.Program(m), *format)
		}
		g, cut := explore.Build(c.Context(), m, explore.Options{States: draw.MaxNodes})
		if err := a.showGraph(draw.States(g, args[0]), *format); err != nil || cut == "" {
			return err
		}
		sayf(a.err, "leasehold: %s: the graph is cut: %s\n", args[0], cut)
		return errIncomplete
	}
	return c
}

// showGraph prints a graph in one of draw.Formats. Another format is a usage error.
func (a *app) showGraph(g draw.Graph, format string) error {
	if format == asJSON {
		return a.printJSON(g)
	}
	text, err := g.Print(format)
	if err != nil {
		return usageError(err.Error())
	}
	_, err = fmt.Fprint(a.out, text)
	return err
}
