package cmd

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
)

// newLimit is `leasehold limit`.
func (a *app) newLimit() *cobra.Command {
	c := &cobra.Command{
		Use:   "limit",
		Short: "limit how many tasks run at once or start in a second",
	}
	c.AddCommand(a.newLimitSet(), a.newLimitList(), a.newLimitRemove())
	return c
}

// newLimitSet is `leasehold limit set`.
func (a *app) newLimitSet() *cobra.Command {
	var n types.NewLimit
	c := &cobra.Command{
		Use:   "set NAME",
		Short: "set or change a limit",
		Long: `Set a limit, or change it. It applies to tasks that name it (leasehold task
create --limits NAME) and start from now on.`,
		Example: "  leasehold limit set api --max 4 --rate 10",
		Args:    cobra.ExactArgs(1),
	}
	c.Flags().Int64Var(&n.Max, "max", 0, "tasks that may run at once; 0 is any number")
	c.Flags().Float64Var(&n.Rate, "rate", 0, "tasks that may start in a second; 0 is any number")
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		if math.IsNaN(n.Rate) || math.IsInf(n.Rate, 0) {
			return usagef("--rate must be a number of 0 or more; got %v", n.Rate)
		}
		if err := api.SetLimit(ctx, args[0], n); err != nil {
			return err
		}
		_, err := sayf(a.out, "set %s\n", args[0])
		return err
	})
}

// limitRow is a limit as a row.
type limitRow struct{ types.Limit }

func (r limitRow) columns() []column {
	return []column{
		{head: "limit", cell: r.Name}, {head: "max", cell: fmt.Sprint(r.Max)}, {head: "per second", cell: fmt.Sprint(r.Rate)},
		{head: "running", cell: fmt.Sprint(r.Running)}, {head: "waiting", cell: fmt.Sprint(r.Waiting)},
	}
}

// newLimitList is `leasehold limit list`.
func (a *app) newLimitList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "print the limits and how many tasks use them",
	}
	asRow := func(l types.Limit) limitRow { return limitRow{l} }
	return listCommand(a, c, (*client.Client).Limits, asRow, "no limits")
}

// newLimitRemove is `leasehold limit remove`.
func (a *app) newLimitRemove() *cobra.Command {
	c := &cobra.Command{
		Use:   "remove NAME…",
		Short: "remove limits; tasks that name them become unlimited",
		Args:  cobra.MinimumNArgs(1),
	}
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		for _, name := range args {
			if err := api.RemoveLimit(ctx, name); err != nil {
				return err
			}
			if _, err := sayf(a.out, "removed %s\n", name); err != nil {
				return err
			}
		}
		return nil
	})
}
