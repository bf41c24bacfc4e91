package cmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
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
clients, with the host, process and version of each program. "leasehold status"
shows what managers and workers are doing.`,
	}
	asRow := func(s types.OpenSession) openSessionRow { return openSessionRow{s} }
	return listCommand(a, c, (*client.Client).Sessions, asRow, "no sessions")
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
	}
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		for _, id := range args {
			if err := api.EndSession(ctx, id); err != nil {
				return err
			}
			if _, err := sayf(a.out, "ended %s\n", id); err != nil {
				return err
			}
		}
		return nil
	})
}
