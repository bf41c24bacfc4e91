package cmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/petri"
)

// newTupPetri is `leasehold tup4fun petri`.
func (a *app) newTupPetri() *cobra.Command {
	var limit int
	var graph string
	c := &cobra.Command{
		Use:   "petri NET.apt",
		Short: "analyse a Petri net: bounded, dead, live, reversible, semiflows",
		Long: `Analyse a place/transition net in the format .apt: whether it is bounded, which markings are
dead, whether it is live and reversible, its semiflows. The exit code is 2 if the limit was
reached before all was known.`,
		Args: cobra.ExactArgs(1),
	}
	o := bindOutput(c)
	c.Flags().IntVar(&limit, "limit", 100_000, "most markings of a graph")
	c.Flags().StringVar(&graph, "graph", "", "print the reachability graph instead, as one of "+strings.Join(draw.Formats, ", "))
	c.RunE = func(_ *cobra.Command, args []string) error {
		if limit < 1 {
			return usagef("--limit must be 1 or more")
		}
		src, err := readSource(args[0])
		if err != nil {
			return err
		}
		n, err := petri.ParseAPT(args[0], src)
		if err != nil {
			return usageError(err.Error())
		}
		if graph != "" {
			return a.showMarkings(n, min(limit, draw.MaxNodes), graph)
		}
		r := n.Analyse(limit)
		if err := showOne(a, o, petriRow{r}); err != nil {
			return err
		}
		if r.Bounded == nil || *r.Bounded && r.Live == nil {
			fmt.Fprintf(a.err, "leasehold: %s: not all is known: there are more than %d markings\n", args[0], limit)
			return errIncomplete
		}
		return nil
	}
	return c
}

// petriRow is a report as it is printed.
type petriRow struct{ *petri.Report }

func (r petriRow) columns() []column {
	return []column{
		{head: "net", cell: r.Name},
		{head: "size", cell: fmt.Sprintf("%d places, %d transitions", r.Places, r.Transitions)},
		{head: "bounded", cell: r.bound()},
		{head: "markings", cell: fmt.Sprintf("%d, with %d edges", r.Markings, r.Edges)},
		{head: "dead markings", cell: orNone(r.Dead)},
		{head: "live", cell: yesNo(r.Live, "; not: "+strings.Join(r.NotLive, " "))},
		{head: "reversible", cell: yesNo(r.Reversible, "")},
		{head: "S-semiflows", cell: flows(r.SFlows)},
		{head: "T-semiflows", cell: flows(r.TFlows)},
	}
}

func (r petriRow) bound() string {
	if r.Bounded != nil && *r.Bounded {
		return "yes, by " + strconv.FormatInt(r.Bound, 10)
	}
	return yesNo(r.Bounded, "; there is none for "+strings.Join(r.Unbounded, " "))
}

// yesNo says what is known; why is said of a no.
func yesNo(known *bool, why string) string {
	switch {
	case known == nil:
		return "not known"
	case *known:
		return "yes"
	}
	return "no" + why
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, "; ")
}

func flows(list []string) string {
	if list == nil {
		return "too many to be found"
	}
	return orNone(list)
}

// showMarkings prints a reachability graph.
func (a *app) showMarkings(n *petri.Net, limit int, format string) error {
	g := n.Reach(limit, nil)
	d := draw.Graph{Title: n.Name}
	fires := make([]bool, len(g.Markings))
	for _, e := range g.Edges {
		fires[e.From] = true
		d.Edges = append(d.Edges, draw.Edge{From: e.From, To: e.To, Label: n.Transitions[e.Transition].Name})
	}
	for i, m := range g.Markings {
		node := draw.Node{Label: n.Text(m)}
		switch {
		case i == 0:
			node.Mark = draw.Start
		case !fires[i]:
			node.Mark = draw.Stuck
		}
		d.Nodes = append(d.Nodes, node)
	}
	if err := a.showGraph(d, format); err != nil || g.Whole {
		return err
	}
	fmt.Fprintf(a.err, "leasehold: %s: the graph is cut after %d markings\n", n.Name, limit)
	return errIncomplete
}
