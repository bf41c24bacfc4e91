package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
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
		Short: "print the sessions, and the program behind each",
		Long: `Print the sessions of managers, workers, the coordinator itself and all other
clients, and how the program behind each describes itself. "leasehold status"
shows what managers and workers are doing.`,
		Args: cobra.NoArgs,
	}
	o := bindOutput(c)
	c.RunE = a.withCoordinator(func(ctx context.Context, api *client.Client, _ []string) error {
		sessions, err := api.Sessions(ctx)
		if err != nil {
			return err
		}
		return show(a, o, rowsOf(sessions, func(s types.OpenSession) openSessionRow { return openSessionRow{s} }), "no sessions")
	})
	config.BindFlags(c.Flags(), coordinatorKeys...)
	return c
}

// openSessionRow is a session as a row.
type openSessionRow struct{ types.OpenSession }

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
		Short: "end sessions, so that others get what they hold",
		Long: `End sessions, named as in "leasehold session list". What they hold goes back to
its space at once and does not count as a failed attempt. Use it if a client is
gone but its session is not, or if it holds what others need.

A manager or worker that still runs opens a new session; to stop it, use
"leasehold drain". Sessions of the coordinator's own process cannot be ended.`,
		Example: "  leasehold session end client-7f3a9c01",
		Args:    cobra.MinimumNArgs(1),
		RunE: a.withCoordinator(func(ctx context.Context, api *client.Client, args []string) error {
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
