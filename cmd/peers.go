package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// peerRow is a process that has joined as a row.
type peerRow struct{ types.Peer }

func (r peerRow) columns() []column {
	state := ""
	if r.Revoked {
		state = "revoked"
	}
	return []column{
		{head: "peer", cell: r.ID}, {head: "role", cell: r.Role}, {head: "name", cell: r.Name}, {head: "joined", cell: timeText(&r.Joined)},
		{head: "seen", cell: timeText(&r.Seen)}, {head: "certificate ends", cell: timeText(&r.Ends)}, {head: "invite", cell: r.Invite}, {head: "state", cell: state, rare: true},
	}
}

// newPeers is `leasehold peers`.
func (a *app) newPeers() *cobra.Command {
	c := &cobra.Command{Use: "peers", Short: "list and revoke the processes that have joined"}
	var all, withInvite bool
	list := &cobra.Command{
		Use: "list", Short: "print the processes that are connected or were in the last hour",
	}
	list.Flags().BoolVar(&all, "all", false, "print all that can come back without a join line, and those that were revoked")
	get := func(api *client.Client, ctx context.Context) ([]types.Peer, error) { return api.Peers(ctx, all) }
	revoke := &cobra.Command{
		Use: "revoke ID…", Short: "revoke processes: their sessions end, and they never join again",
		Long: `Revoke processes. Their connections and sessions end, their tasks return, and
their keys never join again. Who has the join line by which a process joined can
join with another key: --with-invite revokes the invite too.`,
		Args: cobra.MinimumNArgs(1),
	}
	revoke.Flags().BoolVar(&withInvite, "with-invite", false, "revoke the invite by which the process joined, too")
	c.AddCommand(listCommand(a, list, get, func(p types.Peer) peerRow { return peerRow{p} }, "no processes have joined"),
		a.coordinatorCommand(revoke, func(ctx context.Context, api *client.Client, args []string) error {
			return a.revokeEach(args, func(id string) (string, error) {
				p, err := api.RevokePeer(ctx, id, withInvite)
				if withInvite {
					return fmt.Sprintf("%s and its invite %s", p.ID, p.Invite), err
				}
				return fmt.Sprintf("%s; who has the join line of the invite %s can join with another key (--with-invite)", p.ID, p.Invite), err
			})
		}))
	return c
}
