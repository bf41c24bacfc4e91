package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// newStatus is `leasehold status`.
func (a *app) newStatus() *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "print sessions, spaces and totals",
		Long: `Print what needs attention, the worst first, and how to fix it; then the
sessions and their tasks, the spaces, and the totals. The exit code is 69 if no
coordinator answers, so the command can be a container's health check. With
--check it is 1 if something stops work.

-o csv prints only the sessions; "space list -o csv" prints the spaces.`,
		Args: cobra.NoArgs,
	}
	check := c.Flags().Bool("check", false, "fail if something stops work")
	o := bindOutput(c)
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, _ []string) error {
		s, err := api.Status(ctx)
		if err != nil {
			return err
		}
		if err := a.showStatus(o, s); err != nil || !*check {
			return err
		}
		return checkAttention(s.Attention)
	})
}

// showStatus prints the status: as a table the sessions, spaces, costs and totals; as CSV only
// the sessions.
func (a *app) showStatus(o *output, s client.Status) error {
	sessions := rowsOf(s.Sessions, func(one types.Session) sessionRow { return sessionRow{one} })
	switch o.form {
	case asJSON:
		return a.printIndented(s)
	case asLines:
		return a.printJSON(s)
	case asCSV:
		return printCSV(a, sessions)
	}
	if err := a.sayAttention(s.Attention); err != nil {
		return err
	}
	if err := show(a, o, sessions, "no sessions"); err != nil {
		return err
	}
	fmt.Fprintln(a.out)
	if err := show(a, o, spaceRows(s.Spaces), "no spaces"); err != nil {
		return err
	}
	for _, line := range costLines(s.Costs) {
		sayf(a.out, "\n%s\n", line)
	}
	for _, line := range databaseLines(s.Database) {
		sayf(a.out, "\n%s\n", line)
	}
	if r := s.Realm; r != nil {
		sayf(a.out, "\n%s\n", realmLine(*r))
	}
	_, err := sayf(a.out, "\n%s: %s, %s, %s, %s; %s, %s\n", s.Coordinator,
		count(s.Totals.Origins, "origin"), count(s.Totals.Episodes, "episode"), count(s.Totals.Clips, "clip"), count(s.Totals.Findings, "finding"),
		withHint(s.Totals.Problems, "problem", "leasehold findings --problems"), withHint(s.Dead, "dead letter", "leasehold dead list"))
	return err
}

// realmLine describes how the realm is kept.
func realmLine(r types.Realm) string {
	text := fmt.Sprintf("realm %s: %s serves in epoch %d", r.Name, r.Owner, r.Epoch)
	if r.Commit != nil {
		text += fmt.Sprintf("; a commit takes %s", r.Commit.Duration().Round(10*time.Microsecond))
	}
	return text + fmt.Sprintf("; %d commits of the log (%d bytes) are not folded", r.Commits, r.Bytes)
}

// databaseLines describes the latest nightly check of the database; empty if there was none.
func databaseLines(c types.DatabaseCheck) (lines []string) {
	for _, damage := range c.Damage {
		lines = append(lines, "the database is damaged: "+damage+"; restore a backup")
	}
	switch {
	case c.At.IsZero():
	case c.Error != "":
		lines = append(lines, fmt.Sprintf("the check of the database at %s could not be finished: %s", when(c.At), c.Error))
	case len(lines) == 0:
		lines = append(lines, fmt.Sprintf("the database was checked at %s: no damage", when(c.At)))
	}
	return lines
}

// withHint formats a number of things that need attention, with the command that shows them if
// there are any.
func withHint(n int, noun, how string) string {
	if n == 0 {
		return count(n, noun)
	}
	return count(n, noun) + " (" + how + ")"
}

// sessionRow is a session as a row.
type sessionRow struct{ types.Session }

func (r sessionRow) columns() []column {
	var serves []string
	for _, s := range r.Serves {
		serves = append(serves, fmt.Sprintf("%s×%d", s.Action, s.Slots))
	}
	return []column{
		{head: "session", cell: r.ID}, {head: "state", cell: r.State, fit: cut}, {head: "since", cell: r.Since},
		{head: "serves", cell: strings.Join(serves, ", "), fit: wrap}, {head: "holds", cell: strings.Join(r.Tasks, ", "), fit: wrap},
	}
}
