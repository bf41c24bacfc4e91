package cmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"leasehold/node"
	"leasehold/shared/config"
	"leasehold/shared/space/journal/pebble"
)

// newRepair is `leasehold repair`.
func (a *app) newRepair() *cobra.Command {
	c := &cobra.Command{
		Use:   "repair",
		Short: "make a damaged journal usable again, and say what was lost",
		Long: `Make a journal of the data folder usable again whose log is damaged in the middle.
All is copied to a folder beside it first. Then the log is cut off at the damage: what
was acknowledged before it is kept, what came after it is lost. A backup may have it;
see leasehold restore.`,
		Args: cobra.NoArgs,
		RunE: a.withConfig(func(_ context.Context, cfg config.Config) error {
			done, err := node.Repair(cfg, a.newLogger(cfg))
			if err != nil {
				return err
			}
			return a.printRepaired(done)
		}),
	}
	config.BindFlags(c.Flags(), "data")
	return c
}

func (a *app) printRepaired(done pebble.Repaired) error {
	if done.Damage == "" {
		_, err := fmt.Fprintf(a.out, "the journal is whole: %s\n", count(int(done.Kept), "record"))
		return err
	}
	_, err := fmt.Fprintf(a.out, "damage: %s\ncopy of all as it was: %s\nkept: %s\nlost: %s behind the damage, and what was in it\n",
		done.Damage, done.Copy, count(int(done.Kept), "record"), count(done.Lost, "record"))
	return err
}
