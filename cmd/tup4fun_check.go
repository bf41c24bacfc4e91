package cmd

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"leasehold/tup4fun/draw"
	"leasehold/tup4fun/explore"
)

// newTupCheck is `leasehold tup4fun check`.
func (a *app) newTupCheck() *cobra.Command {
	c := &cobra.Command{
		Use:   "check MODEL…",
		Short: "check which properties hold in all states of a model",
		Long: `Check which properties of a model hold in all its states. A model without
properties is checked for deadlocks. The exit code is 0 if all hold, 1 if one is
violated, and 2 if that is unknown (a limit was reached) or the model cannot be
read.`,
		Example: "  leasehold tup4fun check --no-reduction philosophers.tup",
		Args:    cobra.MinimumNArgs(1),
	}
	model, search, o := bindModel(c), bindSearch(c), bindOutput(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		options, err := search.options()
		if err != nil {
			return err
		}
		var worst error
		for _, path := range args {
			m, err := model.load(path)
			if err != nil {
				return err
			}
			r := explore.Check(c.Context(), m, options)
			if err := a.showReport(o, r, model); err != nil {
				return err
			}
			worst = worse(worst, verdict(r.Outcome))
		}
		return worst
	}
	return c
}

// verdictRow is a verdict as a row.
type verdictRow struct {
	File    string `json:"file"`
	Name    string `json:"name"`
	Outcome string `json:"outcome"`
	Detail  string `json:"detail"`
	Steps   int    `json:"steps"`
	Vacuous bool   `json:"vacuous"`
}

func (v verdictRow) columns() []column {
	outcome := v.Outcome
	if v.Vacuous {
		outcome += " (never begins)"
	}
	return []column{{head: "property", cell: v.Name, fit: cut}, {head: "verdict", cell: outcome}, {head: "", cell: v.Detail, fit: wrap}}
}

// showReport prints a report. Its error is one of writing: a violated property is an error of
// the command (verdict).
func (a *app) showReport(o *output, r *explore.Report, model *modelFlags) error {
	var rows []verdictRow
	for _, v := range r.Verdicts {
		row := verdictRow{r.File, v.Name, string(v.Outcome), v.Detail, 0, v.Vacuous}
		if v.Trace != nil {
			row.Steps = len(v.Trace.Steps)
		}
		rows = append(rows, row)
	}
	if done, err := printMachineReadable(a, o, r, rows); done {
		return err
	}
	for _, w := range r.Warnings {
		sayf(a.err, "%s\n", w)
	}
	if err := a.showCounts(r); err != nil {
		return err
	}
	if err := show(a, o, rows, ""); err != nil {
		return err
	}
	a.showUnreached(r)
	for _, v := range r.Verdicts {
		if v.Trace != nil {
			run := "a run that shows it"
			if v.Trace.Shortest {
				run = "a shortest run to it"
			}
			sayf(a.out, "\n%s is violated; %s:\n", v.Name, run)
			fmt.Fprintln(a.out, printableLines(draw.Text(v.Trace)+model.repeat(r.File, v.Trace)))
		}
	}
	return nil
}

// maxUnreached is the number of statements that showUnreached prints.
const maxUnreached = 20

// showUnreached prints the statements that no run reaches.
func (a *app) showUnreached(r *explore.Report) {
	if len(r.Unreached) == 0 {
		return
	}
	fmt.Fprintln(a.out, "\nno run reaches:")
	for _, u := range r.Unreached[:min(len(r.Unreached), maxUnreached)] {
		sayf(a.out, "  %s  %s  (line %d)\n", u.Process, u.Text, u.Pos.Line)
	}
	if more := len(r.Unreached) - maxUnreached; more > 0 {
		sayf(a.out, "  and %d more; --json has all\n", more)
	}
}

// showCounts prints the outcome of a report, its counts, and the use of each space.
func (a *app) showCounts(r *explore.Report) error {
	sayf(a.out, "%s: %s\n", r.File, r.Outcome)
	if r.Reason != "" {
		sayf(a.out, "  stopped early: %s\n", r.Reason)
	}
	t := a.newTable()
	t.row("  states", strconv.FormatInt(r.States, 10))
	t.row("  transitions", strconv.FormatInt(r.Transitions, 10))
	t.row("  stuck", strconv.FormatInt(r.Stuck, 10))
	t.row("  terminated", strconv.FormatInt(r.Terminated, 10))
	for _, s := range r.Spaces {
		capacity := "INF"
		if s.Capacity >= 0 {
			capacity = strconv.Itoa(s.Capacity)
		}
		if s.Unbounded {
			capacity += ", and it grows without bound"
		}
		t.row("  "+s.Name, fmt.Sprintf("at most %d of %s", s.Most, capacity))
	}
	return t.print()
}
