package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"leasehold/shared/api/client"
	"leasehold/shared/api/types"
	"leasehold/shared/space"
)

// newSpaceCreate is `leasehold space create`.
func (a *app) newSpaceCreate() *cobra.Command {
	var n types.NewSpace
	c := &cobra.Command{
		Use:   "create SPACE",
		Short: "create a space",
		Long: `Create a space. Its options cannot be changed later. Nothing happens if the
space already exists with the same options.`,
		Example: "  leasehold space create notes --capacity 1000 --overflow drop_oldest",
		Args:    cobra.ExactArgs(1),
	}
	f := c.Flags()
	f.StringVar(&n.Kind, "kind", string(space.Sequential), "order in which tuples are found: sequential, queue, stack, pile, random or ordered")
	f.IntVar(&n.OrderBy, "order-by", 0, "index of the int64 field by which an ordered space is ordered, the highest first")
	f.IntVar(&n.Capacity, "capacity", space.DefaultCapacity, "maximum number of tuples")
	f.StringVar(&n.Overflow, "overflow", string(space.Block), "what a put does if the space is full: block or drop_oldest")
	f.BoolVar(&n.Volatile, "volatile", false, "keep tuples in memory only; they are lost when the coordinator restarts")
	return a.coordinatorCommand(c, func(ctx context.Context, api *client.Client, args []string) error {
		n.Name = args[0]
		if _, err := (space.Options{Kind: space.Kind(n.Kind), OrderBy: n.OrderBy, Capacity: n.Capacity, Overflow: space.Overflow(n.Overflow)}).Normalize(); err != nil {
			return usagef("%s", err)
		}
		s, isNew, err := api.CreateSpace(ctx, n)
		if err != nil {
			return err
		}
		text := "created %s\n"
		if !isNew {
			text = "%s exists already\n"
		}
		_, err = sayf(a.out, text, s.Name)
		return err
	})
}
