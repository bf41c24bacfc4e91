package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// tokenRow is a token as a row.
type tokenRow struct{ types.Token }

func (r tokenRow) columns() []column {
	return []column{
		{head: "token", cell: r.Name}, {head: "id", cell: r.ID}, {head: "roles", cell: strings.Join(r.Roles, ",")}, {head: "spaces", cell: strings.Join(r.Spaces, ","), rare: true},
		{head: "created", cell: timeText(&r.Created)}, {head: "ends", cell: endText(r.Expires)},
	}
}

// newToken is `leasehold token`.
func (a *app) newToken() *cobra.Command {
	c := &cobra.Command{Use: "token", Short: "make, list and revoke the tokens of programs and people"}
	list := &cobra.Command{Use: "list", Short: "print the tokens, without their secrets"}
	revoke := &cobra.Command{Use: "revoke NAME…", Short: "revoke tokens: what they have ends", Args: cobra.MinimumNArgs(1)}
	c.AddCommand(a.newTokenCreate(), listCommand(a, list, (*client.Client).Tokens, func(t types.Token) tokenRow { return tokenRow{t} }, "no tokens"),
		a.coordinatorCommand(revoke, func(ctx context.Context, api *client.Client, args []string) error {
			return a.revokeEach(args, func(name string) (string, error) {
				t, err := api.RevokeToken(ctx, name)
				return "token " + t.Name, err
			})
		}))
	return c
}

// newTokenCreate is `leasehold token create`.
func (a *app) newTokenCreate() *cobra.Command {
	var n types.NewToken
	var expires life
	c := &cobra.Command{
		Use:   "create NAME --role ROLE",
		Short: "make a token, and print it once",
		Long: `Make a token for a program or a person, and print it. It is not kept and cannot
be shown again.

A reader sees everything but the data of tasks. A producer also creates tasks
and uses spaces. An admin also changes what the system does. A worker claims and
does tasks.`,
		Example: "  leasehold token create ci --role producer --expires 90d > ci.token",
		Args:    cobra.ExactArgs(1),
	}
	c.Flags().StringSliceVar(&n.Roles, "role", nil, "roles: reader, producer, worker, manager or admin, separated by commas")
	c.Flags().StringSliceVar(&n.Spaces, "spaces", nil, "prefixes of the application spaces that it may use, separated by commas (default: all)")
	c.Flags().Var(&expires, "expires", "time for which it can be used, such as 90d (default: without an end)")
	form := bindOutput(c)
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		if len(n.Roles) == 0 {
			return usagef("token create: --role is missing: reader, producer, worker, manager or admin")
		}
		n.Name, n.Expires = args[0], models.SecondsOf(expires.Duration)
		t, err := api.CreateToken(ctx, n)
		if err != nil {
			return err
		}
		if form.structured() {
			return show(a, form, []tokenRow{{t}}, "")
		}
		_, err = sayf(a.out, "%s\n", t.Token)
		return err
	})
}
