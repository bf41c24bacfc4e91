package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
)

// asText is the default format of a trace.
const asText = "text"

// bindTraceFormat adds --format to a command that prints a trace.
func bindTraceFormat(c *cobra.Command) *string {
	formats := append([]string{asText}, draw.Formats...)
	return bindFormat(c, asText, formats)
}

// bindFormat adds --format to a command. The result is one of formats when the command
// runs; others are usage errors.
func bindFormat(c *cobra.Command, usual string, formats []string) *string {
	format := usual
	c.Flags().StringVar(&format, "format", usual, "one of "+strings.Join(formats, ", "))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)) // the flag is there
	check := func(*cobra.Command, []string) error {
		if !slices.Contains(formats, format) {
			return usagef("--format must be one of %s; got %q", strings.Join(formats, ", "), format)
		}
		return nil
	}
	c.PreRunE = check
	return &format
}

// newTupTrace is `leasehold tup4fun trace`.
func (a *app) newTupTrace() *cobra.Command {
	var property string
	c := &cobra.Command{
		Use:   "trace MODEL",
		Short: "print a run that violates a property",
		Long: `Print a run that violates a property: that of --property, or the first violated
property of the model. For properties of states it is a shortest run, unless the
search for one reached a limit (shortest in JSON). The format mermaid is a
sequence diagram. The exit code is 1 if there is such a run, 0 if the property
holds, and 2 if that is unknown.`,
		Args: cobra.ExactArgs(1),
	}
	model, search := bindModel(c), bindSearch(c)
	format := bindTraceFormat(c)
	c.Flags().StringVar(&property, "property", "", "name of the property, such as deadlockfree")
	c.RunE = func(c *cobra.Command, args []string) error {
		options, err := search.options()
		if err != nil {
			return err
		}
		m, err := model.load(args[0])
		if err != nil {
			return err
		}
		r := explore.Check(c.Context(), m, options)
		v, err := pickVerdict(r, property)
		if err != nil {
			return err
		}
		if v.Trace == nil {
			sayf(a.err, "leasehold: %s: %s %s %s\n", r.File, v.Name, v.Outcome, v.Detail)
			return verdict(v.Outcome)
		}
		if err := a.showTrace(v.Trace, *format, v.Name); err != nil {
			return err
		}
		if *format == asText {
			fmt.Fprintln(a.out, printableLines(model.repeat(r.File, v.Trace)))
		}
		return verdict(v.Outcome)
	}
	return c
}

// pickVerdict returns the verdict of a property or, if property is empty, the first violated one, else the
// verdict on the whole model. An unknown property is a usage error.
func pickVerdict(r *explore.Report, property string) (explore.Verdict, error) {
	var names []string
	for _, v := range r.Verdicts {
		if v.Name == property || property == "" && v.Outcome == explore.Violated {
			return v, nil
		}
		names = append(names, v.Name)
	}
	if property != "" {
		return explore.Verdict{}, usagef("%s has no property %q; use one of %s", r.File, property, strings.Join(names, ", "))
	}
	return explore.Verdict{Name: "every property", Outcome: r.Outcome, Detail: r.Reason}, nil
}

// showTrace prints a trace in one of the formats of bindTraceFormat.
func (a *app) showTrace(t *explore.Trace, format, title string) (err error) {
	switch format {
	case asText:
		_, err = fmt.Fprint(a.out, printableLines(draw.Text(t)))
	case "mermaid":
		_, err = fmt.Fprint(a.out, printableLines(draw.Sequence(t)))
	case asJSON:
		return a.printJSON(t)
	default:
		return a.showGraph(draw.Steps(t, title), format)
	}
	return err
}
