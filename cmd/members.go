package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// memberRow is a coordinator of a realm as a row.
type memberRow struct{ types.Member }

func (r memberRow) columns() []column {
	epoch := ""
	if r.Epoch > 0 {
		epoch = fmt.Sprint(r.Epoch)
	}
	return []column{
		{head: "name", cell: r.Name}, {head: "role", cell: r.Role}, {head: "epoch", cell: epoch}, {head: "api", cell: r.API},
		{head: "gates", cell: strings.Join(r.Gates, ","), rare: true}, {head: "version", cell: r.Version}, {head: "since", cell: timeText(&r.Since)},
	}
}

// newMembers is `leasehold members`.
func (a *app) newMembers() *cobra.Command {
	c := &cobra.Command{
		Use: "members", Short: "print the coordinators that share a database, and which serves",
		Long: `Print the coordinators that serve one realm in turn: the owner, which serves
now, and those that stand by (docs/scaling.md). A coordinator that keeps
everything in its data folder has no others.`,
	}
	members := func(api *client.Client, ctx context.Context) ([]types.Member, error) { return api.Members(ctx) }
	return listCommand(a, c, members, func(m types.Member) memberRow { return memberRow{m} }, "no members: the coordinator works alone")
}
