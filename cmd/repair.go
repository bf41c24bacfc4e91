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
		Short: "repair a damaged journal, and report what was lost",
		Long: `Repair the journal of the data folder if its log is damaged in the middle. The
journal is first copied to a folder beside it. Then the log is cut off at the
damage: operations before it are kept, operations after it are lost. A backup
may have them; see leasehold restore.`,
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
		_, err := fmt.Fprintf(a.out, "the journal is undamaged: %s\n", count(int(done.Kept), "record"))
		return err
	}
	_, err := fmt.Fprintf(a.out, "damage: %s\ncopy of the damaged journal: %s\nkept: %s\nlost: the damaged part and %s after it\n",
		done.Damage, done.Copy, count(int(done.Kept), "record"), count(done.Lost, "record"))
	return err
}
