package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"leasehold/shared/apiclient"
	"leasehold/shared/apitypes"
	"leasehold/shared/config"
)

// newSession is `leasehold session`.
func (a *app) newSession() *cobra.Command {
	c := &cobra.Command{
		Use:   "session",
		Short: "list and end the sessions of all clients",
	}
	c.AddCommand(a.newSessionList(), a.newSessionEnd())
	return c
}

// newSessionList is `leasehold session list`.
func (a *app) newSessionList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "print the sessions and the programs behind them",
		Long: `Print the sessions of managers, workers, the coordinator itself and all other
clients, with the program behind each as it describes itself. What managers and
workers do is in "leasehold status".`,
		Args: cobra.NoArgs,
	}
	o := bindOutput(c)
	c.RunE = a.withCoordinator(func(ctx context.Context, api *apiclient.Client, _ []string) error {
		sessions, err := api.Sessions(ctx)
		if err != nil {
			return err
		}
		return show(a, o, rowsOf(sessions, func(s apitypes.OpenSession) openSessionRow { return openSessionRow{s} }), "no sessions")
	})
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}

// openSessionRow is a session as a row.
type openSessionRow struct{ apitypes.OpenSession }

func (r openSessionRow) columns() []column {
	pid := ""
	if r.PID != 0 {
		pid = fmt.Sprint(r.PID)
	}
	return []column{
		{head: "session", cell: r.ID}, {head: "mode", cell: r.Mode}, {head: "host", cell: r.Host, fit: cut}, {head: "pid", cell: pid},
		{head: "version", cell: r.Version, fit: cut}, {head: "age", cell: since(r.Opened)}, {head: "last heartbeat", cell: since(r.LastHeartbeat)},
		{head: "holds", cell: fmt.Sprint(r.Holds)}, {head: "waits", cell: fmt.Sprint(r.Waits)}, {head: "state", cell: r.State, fit: cut},
	}
}

// since returns how long ago a time was, in whole seconds; empty if at is not a time. Clocks may
// differ, so a time in the future is 0s.
func since(at string) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return ""
	}
	return max(0, time.Since(t).Truncate(time.Second)).String()
}

// newSessionEnd is `leasehold session end`.
func (a *app) newSessionEnd() *cobra.Command {
	c := &cobra.Command{
		Use:   "end SESSION…",
		Short: "end sessions; what they hold is handed back",
		Long: `End sessions, named as "leasehold session list" shows them: what they hold goes
back to its space at once, and counts no attempt. Use it for clients that are
gone but whose sessions last, or that hold what others need.

A manager or worker that still runs opens a new session; to make it end, use
"leasehold drain". Sessions of the coordinator's own process cannot be ended.`,
		Example: "  leasehold session end client-7f3a9c01",
		Args:    cobra.MinimumNArgs(1),
		RunE: a.withCoordinator(func(ctx context.Context, api *apiclient.Client, args []string) error {
			for _, id := range args {
				if err := api.EndSession(ctx, id); err != nil {
					return err
				}
				if _, err := fmt.Fprintf(a.out, "ended %s\n", printable(id)); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}
