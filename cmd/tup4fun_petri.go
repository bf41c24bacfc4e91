package cmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/petri"
)

// petriFlags are the flags of `leasehold tup4fun petri`.
type petriFlags struct {
	options    petri.Options
	memory     int64
	properties []string
	final      []string
	cover      []string
	graph      string
}

// newTupPetri is `leasehold tup4fun petri`.
func (a *app) newTupPetri() *cobra.Command {
	var f petriFlags
	c := &cobra.Command{
		Use:   "petri NET",
		Short: "check a Petri net",
		Long: `Check whether a Petri net is bounded, free of deadlocks, live and reversible,
and which sums of tokens are constant. NET is an .apt file, PNML, or - for
standard input. With a final marking, also check whether each run can complete,
and whether it does so with no tokens left over. The exit code is 0 if all
properties hold, 1 if one is violated, 2 if that is unknown or the net cannot
be read.`,
		Example: "  leasehold tup4fun petri --final '{p0}' --tokens 6 examples/original/index-flow.apt",
		Args:    cobra.ExactArgs(1),
	}
	o := bindOutput(c)
	f.bind(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		q, n, err := f.readQuestion(args[0])
		if err != nil {
			return err
		}
		if f.graph != "" {
			return a.showMarkings(c.Context(), n, q.Options, f.graph)
		}
		r := petri.Check(c.Context(), args[0], n, q)
		if err := a.showPetri(o, r); err != nil {
			return err
		}
		return verdict(r.Outcome)
	}
	return c
}

// bind adds the flags to a command.
func (f *petriFlags) bind(c *cobra.Command) {
	flags := c.Flags()
	all := append(slices.Clone(petri.Properties), petri.Completes, petri.Proper)
	flags.StringSliceVar(&f.properties, "property", nil, "properties to check: "+strings.Join(all, ", ")+"; by default all but safe")
	flags.StringArrayVar(&f.final, "final", nil, "marking in which a run may end, such as '{p0, 2*p8}'; by default those of the file")
	flags.StringArrayVar(&f.cover, "cover", nil, "marking that no reachable marking should cover")
	flags.StringVar(&f.graph, "graph", "", "print the reachability graph (of an unbounded net, the coverability graph) as one of "+strings.Join(draw.Formats, ", "))
	flags.IntVar(&f.options.Markings, "markings", 0, "maximum number of markings; 0 is 200000")
	flags.Int64Var(&f.options.Tokens, "tokens", 0, "maximum number of tokens in a place; 0 is unlimited")
	flags.Int64Var(&f.memory, "memory", 0, "maximum memory in MiB; 0 is 1024")
	_ = c.RegisterFlagCompletionFunc("graph", cobra.FixedCompletions(draw.Formats, cobra.ShellCompDirectiveNoFileComp)) // the flags are there
	_ = c.RegisterFlagCompletionFunc("property", cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))
}

// readQuestion reads the net, with the final markings of --final if there are any, and the
// properties to check. Invalid flags and files are usage errors.
func (f *petriFlags) readQuestion(path string) (petri.Question, *petri.Net, error) {
	q := petri.Question{Properties: f.properties, Options: f.options}
	if f.options.Markings < 0 || f.options.Tokens < 0 || f.memory < 0 || f.memory > 1<<40 { // more would overflow as bytes
		return q, nil, usagef("--markings, --tokens and --memory must not be negative")
	}
	q.Options.Memory = f.memory << 20
	if f.graph != "" && !slices.Contains(draw.Formats, f.graph) {
		return q, nil, usagef("--graph must be one of %s; got %q", strings.Join(draw.Formats, ", "), f.graph)
	}
	n, err := readNet(path)
	if err != nil {
		return q, nil, err
	}
	finals, err := parseMarkings(n, "--final", f.final)
	if err != nil {
		return q, nil, err
	}
	if len(finals) > 0 {
		n.Final = finals
	}
	if q.Cover, err = parseMarkings(n, "--cover", f.cover); err != nil {
		return q, nil, err
	}
	return q, n, f.checkProperties(n)
}

// checkProperties refuses a property that does not exist, or that needs a final marking
// which n does not have.
func (f *petriFlags) checkProperties(n *petri.Net) error {
	all := append(slices.Clone(petri.Properties), petri.Completes, petri.Proper)
	for _, p := range f.properties {
		if !slices.Contains(all, p) {
			return usagef("--property must be one of %s; got %q", strings.Join(all, ", "), p)
		}
		if !slices.Contains(petri.Properties, p) && len(n.Final) == 0 {
			return usagef("--property %s needs a final marking: add --final '{PLACE}'", p)
		}
	}
	return nil
}

// readNet reads a net in the .apt format or in PNML, as its content tells. A malformed net is a usage error.
func readNet(path string) (*petri.Net, error) {
	src, err := readSource(path)
	if err != nil {
		return nil, err
	}
	parse := petri.Parse
	if petri.IsPNML(src) {
		parse = petri.ParsePNML
	}
	n, err := parse(path, src)
	if err != nil {
		return nil, usageError(err.Error())
	}
	return n, nil
}

// parseMarkings parses the markings that a flag gives; flag is its name, for the errors, which are
// usage errors.
func parseMarkings(n *petri.Net, flag string, texts []string) ([]petri.Marking, error) {
	var all []petri.Marking
	for _, text := range texts {
		m, err := petri.ParseMarking(n, flag, text)
		if err != nil {
			return nil, usageError(err.Error())
		}
		all = append(all, m)
	}
	return all, nil
}

// petriRow is the finding about a property as a row.
type petriRow struct {
	File    string `json:"file"`
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
	Firing  string `json:"firing"`
}

func (r petriRow) columns() []column {
	return []column{{head: "property", cell: r.Name, fit: cut}, {head: "verdict", cell: r.Outcome}, {head: "", cell: r.Detail, fit: wrap}}
}

// showPetri prints a report, with a firing sequence for each property that one refutes. Its error
// is one of writing: a violated property is an error of the command (verdict).
func (a *app) showPetri(o *output, r *petri.Report) error {
	var rows []petriRow
	for _, f := range r.Findings {
		rows = append(rows, petriRow{r.File, f.Property, string(f.Outcome), f.Detail, strings.Join(f.Firing, " ")})
	}
	if done, err := printMachineReadable(a, o, r, rows); done {
		return err
	}
	sayf(a.out, "%s: %s\n", r.File, r.Outcome)
	if r.Reason != "" {
		sayf(a.out, "  not all markings were explored: %s\n", r.Reason)
	}
	if err := a.showPetriCounts(r); err != nil {
		return err
	}
	if err := show(a, o, rows, "no properties"); err != nil {
		return err
	}
	for _, f := range r.Findings {
		if len(f.Firing)+len(f.Repeat) > 0 {
			a.showFiring(f)
		}
	}
	return nil
}

// showPetriCounts prints the counts and the semiflows of a report.
func (a *app) showPetriCounts(r *petri.Report) error {
	t := a.newTable()
	t.row("  places", strconv.Itoa(r.Places))
	t.row("  transitions", strconv.Itoa(r.Transitions))
	t.row("  markings", strconv.Itoa(r.Markings))
	t.row("  edges", strconv.Itoa(r.Edges))
	for _, s := range r.PlaceSemiflows {
		t.row("  constant", fmt.Sprintf("%s = %d", s.Text, *s.Tokens))
	}
	for _, s := range r.TransitionSemiflows {
		t.row("  changes nothing", s.Text)
	}
	if r.SemiflowsReason != "" {
		t.row("  semiflows", r.SemiflowsReason)
	}
	if len(r.OffTheWay) > 0 {
		t.row("  no workflow net", "on no way from the source to the sink: "+strings.Join(r.OffTheWay, ", "))
	}
	return t.print()
}

// showFiring prints the firing sequence that refutes a property, which may be empty, and the part
// of it that can repeat for ever.
func (a *app) showFiring(f petri.Finding) {
	sayf(a.out, "\n%s is violated: ", f.Property)
	if len(f.Firing) > 0 {
		sayf(a.out, "fire %s; that leads to %s", strings.Join(f.Firing, " "), f.Marking)
	} else {
		sayf(a.out, "it begins with %s", f.Marking)
	}
	if len(f.Repeat) > 0 {
		sayf(a.out, "; then fire %s repeatedly", strings.Join(f.Repeat, " "))
	}
	fmt.Fprintln(a.out)
}

// showMarkings prints the coverability graph, which is the reachability graph if the net is
// bounded. If a bound cut the graph, it tells so on standard error and returns errIncomplete.
func (a *app) showMarkings(ctx context.Context, n *petri.Net, o petri.Options, format string) error {
	g := petri.Cover(ctx, n, o)
	if err := a.showGraph(draw.Markings(g), format); err != nil {
		return err
	}
	cut := g.Reason
	if cut == "" && g.Len() > draw.MaxNodes {
		cut = fmt.Sprintf("%d of %d markings are drawn", draw.MaxNodes, g.Len())
	}
	if cut == "" {
		return nil
	}
	sayf(a.err, "leasehold: the graph is cut: %s\n", cut)
	return verdict(explore.Incomplete)
}
